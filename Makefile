# What each target does: make help.

SHELL := /bin/bash
GO ?= go
BIN := bin/flowplan
PREFIX ?= $(shell $(GO) env GOBIN)
ifeq ($(PREFIX),)
PREFIX := $(shell $(GO) env GOPATH)/bin
endif
export CGO_ENABLED := 1

.PHONY: e2e crash help demo test check bench oracle lint fmt generate install clean build needs-cc needs-python

help: ## lists the targets
	@grep -hE '^[a-z0-9-]+:.*## ' $(MAKEFILE_LIST) | sort | sed -E 's/:.*## /\t/' | expand -t 12

demo: build ## repairs a small program in Python and one in C over MCP, printing every call
	@$(GO) run ./internal/demo -binary $(BIN)

build: needs-cc ## builds bin/flowplan
	@mkdir -p bin
	@$(GO) build -trimpath -o $(BIN) ./cmd/flowplan

needs-cc:
	@cc=$$($(GO) env CC); command -v "$${cc%% *}" >/dev/null 2>&1 || { \
	  echo "flowplan needs a C compiler for tree-sitter, and $${cc:-cc} was not found: install gcc or clang, or set CC." >&2; exit 1; }

needs-python:
	@command -v python3 >/dev/null 2>&1 || { \
	  echo "the tests compare graphs with CPython, and python3 was not found: install Python 3.11 or newer." >&2; exit 1; }

test: needs-cc needs-python ## runs every test and says how many there were
	@set -o pipefail; $(GO) test -json -timeout 20m ./... | $(GO) run ./internal/testcount

crash: needs-cc ## programs that crash under sanitizers, Valgrind and gdb, and what flow_of makes of their reports (needs clang, valgrind, gdb, g++)
	@$(GO) vet -tags crash ./internal/engine ./internal/hazard
	@$(GO) test -tags crash -count=1 ./internal/engine ./internal/hazard -run 'Crash|Proof'

# The client's versions that the tests are run with; each is installed once.
CLAUDE_VERSIONS ?= 2.1.197 2.1.332
CLAUDE_CACHE ?= $(HOME)/.cache/flowplan-e2e

e2e: build ## Claude Code for real (needs npm), against a scripted model on loopback
	@command -v npm >/dev/null 2>&1 || { echo "make e2e installs Claude Code from npm, and npm was not found: install Node.js 18 or newer." >&2; exit 1; }
	@$(GO) vet -tags e2e ./internal/e2e
	@for v in $(CLAUDE_VERSIONS); do \
	  dir=$(CLAUDE_CACHE)/$$v; claude=$$dir/node_modules/@anthropic-ai/claude-code/bin/claude.exe; \
	  if ! [ "$$($$claude --version 2>/dev/null | cut -d' ' -f1)" = $$v ]; then \
	    mkdir -p $$dir && (cd $$dir && { [ -f package.json ] || echo '{"private":true}' > package.json; } && \
	      npm install --no-save --no-audit --no-fund --loglevel=error @anthropic-ai/claude-code@$$v && node node_modules/@anthropic-ai/claude-code/install.cjs) || exit 1; \
	  fi; \
	  $$claude --version || exit 1; \
	  CLAUDE=$$claude FLOWPLAN=$(CURDIR)/$(BIN) $(GO) test -tags e2e -count=1 -v ./internal/e2e | grep -v '^=== ' ; \
	  [ $${PIPESTATUS[0]} = 0 ] || exit 1; \
	done

check: lint test ## what CI runs, but for the demo, crash and e2e

lint: needs-cc ## gofmt, vet, go mod tidy, generated files
	@out=$$(gofmt -l cmd internal skills); [ -z "$$out" ] || { echo "not gofmt-clean:"; echo "$$out"; exit 1; }
	@$(GO) vet ./...
	@$(GO) mod tidy -diff >/dev/null || { echo "go.mod is not tidy: run go mod tidy" >&2; exit 1; }
	@$(GO) run ./internal/lang/generate -check
	@$(GO) run ./internal/plugin -check

fmt: ## formats the source
	@gofmt -w cmd internal skills

generate: ## rewrites the list of languages and the Claude Code plugin
	@$(GO) run ./internal/lang/generate
	@$(GO) run ./internal/plugin

oracle: build needs-python ## compares every function of the standard library (or FILES=...) with CPython, and 30,000 edits with what Diff observes
	@python3 internal/oracle/python/compare.py --flowplan $(BIN) $(if $(FILES),--files $(FILES)) --floors cfg=99.99,du=99.99
	@$(if $(FILES),true,$(GO) test -count=1 -timeout 30m -v ./internal/delta -run 'Mutation|Formatting' -args -mutations 30000 -every 1 | grep -v '^=== ')

bench: build needs-python ## ratios of speed, side by side in one run (REPO=... for another repository)
	@$(GO) run ./internal/bench -binary $(BIN) $(if $(REPO),-repo $(REPO))

install: build ## installs flowplan beside Go's other programs
	@mkdir -p $(PREFIX) && install -m 755 $(BIN) $(PREFIX)/flowplan && echo "installed $(PREFIX)/flowplan"

clean: ## removes what was built
	@rm -rf bin
