// Package e2e runs the real Claude Code against a scripted model on loopback:
// from an empty home, `flowplan setup claude-code`, then /flowfix in a git
// repository. What a model would have been sent is read from the request
// bodies. Its tests need the client and run under `make e2e` alone, by the
// build tag e2e:
//
//	CLAUDE=/path/to/claude FLOWPLAN=bin/flowplan go test -tags e2e ./internal/e2e
package e2e
