# What each target does: make help.

SHELL := /bin/bash
GO ?= go
BIN := bin/flowplan
PREFIX ?= $(shell $(GO) env GOBIN)
ifeq ($(PREFIX),)
PREFIX := $(shell $(GO) env GOPATH)/bin
endif
export CGO_ENABLED := 1

.PHONY: help demo test check bench oracle lint fmt generate install clean build needs-cc needs-python

help: ## lists the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sort | sed -E 's/:.*## /\t/' | expand -t 12

demo: build ## repairs a small program over MCP, printing every call
	@$(GO) run ./internal/demo -binary $(BIN)

build: needs-cc ## builds bin/flowplan
	@mkdir -p bin
	@$(GO) build -o $(BIN) ./cmd/flowplan

needs-cc:
	@cc=$$($(GO) env CC); command -v "$${cc%% *}" >/dev/null 2>&1 || { \
	  echo "flowplan needs a C compiler for tree-sitter, and $${cc:-cc} was not found: install gcc or clang, or set CC." >&2; exit 1; }

needs-python:
	@command -v python3 >/dev/null 2>&1 || { \
	  echo "the tests compare graphs with CPython, and python3 was not found: install Python 3.11 or newer." >&2; exit 1; }

test: needs-cc needs-python ## runs every test and says how many there were
	@set -o pipefail; $(GO) test -json -timeout 20m ./... | $(GO) run ./internal/testcount

check: lint test ## what CI runs

lint: needs-cc ## gofmt, vet, go mod tidy, generated files
	@out=$$(gofmt -l cmd internal skills); [ -z "$$out" ] || { echo "not gofmt-clean:"; echo "$$out"; exit 1; }
	@$(GO) vet ./...
	@$(GO) mod tidy -diff >/dev/null || { echo "go.mod is not tidy: run go mod tidy" >&2; exit 1; }
	@$(GO) run ./internal/lang/generate -check

fmt: ## formats the source
	@gofmt -w cmd internal skills

generate: ## rewrites the list of languages
	@$(GO) run ./internal/lang/generate

oracle: build needs-python ## compares every function of the standard library (or FILES=...) with CPython
	@python3 internal/oracle/python/compare.py --flowplan $(BIN) $(if $(FILES),--files $(FILES)) --floors cfg=99.99,du=99.99

bench: build needs-python ## ratios of speed, side by side in one run (REPO=... for another repository)
	@$(GO) run ./internal/bench -binary $(BIN) $(if $(REPO),-repo $(REPO))

install: build ## installs flowplan beside Go's other programs
	@mkdir -p $(PREFIX) && install -m 755 $(BIN) $(PREFIX)/flowplan && echo "installed $(PREFIX)/flowplan"

clean: ## removes what was built
	@rm -rf bin
