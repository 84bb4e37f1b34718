# Two commands: make demo and make test. Both install what is missing.
GO      ?= go
BIN     := bin/seckill
SOURCES := $(shell git ls-files -co --exclude-standard 'cmd' 'internal' 'strategies' 'web' 'loadtest' go.mod go.sum 2>/dev/null)

# One line per test that has ended; the packages that take longest begin first, so that none is left over at the end.
GOTESTSUM := $(GO) tool gotestsum --format testname --format-hide-empty-pkg
TESTFLAGS := -race -vet=off -parallel 4
PACKAGES  := ./strategies ./web/e2e ./cmd/seckill ./loadtest ./internal/bench ./...

.PHONY: demo test verify ready prove build bench figures deps clean

## demo: install what is missing, start everything, show the page
demo: build
	@$(BIN) deps --best-effort
	@exec $(BIN) up

## test: install what is missing, run the tests with the race detector (ten minutes on two cores)
test: build ready
	$(GOTESTSUM) -- $(TESTFLAGS) -timeout 9m $(PACKAGES)

## verify: what test runs, and what takes longer; then the same on Oracle MySQL, if SECKILL_TEST_MYSQL_DSN names one
verify: export GOFLAGS += -tags=verify
verify: build ready
	SECKILL_TEST_MYSQL_DSN= $(GOTESTSUM) -- $(TESTFLAGS) -timeout 60m $(PACKAGES)
	@if [ -n "$$SECKILL_TEST_MYSQL_DSN" ]; then set -x; $(GOTESTSUM) -- $(TESTFLAGS) -timeout 60m $(PACKAGES); \
	else echo "MariaDB only: set SECKILL_TEST_MYSQL_DSN to the DSN of an Oracle MySQL to verify that, too"; fi

# ready installs the servers and does what go test would otherwise do silently: it checks and compiles.
ready: build
	$(BIN) deps --tests
	$(GO) vet -tags verify ./...
	$(GO) tool staticcheck -tags verify ./...
	$(GO) build -race -v ./...

## prove: compute the guarantee matrix anew, with its counterexamples (a quarter of an hour)
prove: build
	$(BIN) deps
	@touch bin/prove.begun
	$(BIN) prove --examples web/guarantees --json web/guarantees/matrix.json --readme README.md
	@find web/guarantees -name '*.json' ! -newer bin/prove.begun -delete

## figures: measure the figures of the README and the lessons anew (a quarter of an hour, on a machine that does nothing else)
figures: build
	$(BIN) deps
	$(BIN) compare --strategies all --html bin/compare.html --json bin/compare.json
	$(BIN) bench locks --contenders 8 --for 1s --json bin/locks.json
	$(BIN) bench claims --json bin/claims.json
	$(BIN) figures --compare bin/compare.json --locks bin/locks.json --claims bin/claims.json \
		--json web/static/figures.json --readme README.md

## bench: the benchmarks, on real servers
bench: build
	$(BIN) deps
	$(GO) test -run '^$$' -bench . -benchtime 2s ./...

build: $(BIN)
$(BIN): $(SOURCES)
	$(GO) build -o $@ ./cmd/seckill

deps: build
	$(BIN) deps

clean:
	rm -rf bin
