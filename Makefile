# Two commands: make demo and make test. Both install what is missing.
GO      ?= go
BIN     := bin/seckill
SOURCES := $(shell git ls-files -co --exclude-standard 'cmd' 'internal' 'strategies' 'web' 'loadtest' go.mod go.sum 2>/dev/null)

.PHONY: demo test prove build bench figures deps clean

## demo: install what is missing, start everything, show the page
demo: build
	@$(BIN) deps --best-effort
	@exec $(BIN) up

## test: install what is missing, run everything with the race detector
test: build
	$(BIN) deps --tests
	$(GO) vet ./...
	$(GO) tool staticcheck ./...
	$(GO) test -race -parallel 4 -timeout 14m ./...

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
