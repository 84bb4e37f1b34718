# make demo starts the lab, make test runs the tests. Both install what is missing. make alone lists all targets.
.DEFAULT_GOAL := help
GO      ?= go
BIN     := bin/seckill
SOURCES := $(shell git ls-files -co --exclude-standard 'cmd' 'internal' 'strategies' 'web' 'loadtest' go.mod go.sum 2>/dev/null)

# Everything is compiled without gin's MessagePack, a tenth of the program that nothing here speaks, so that the program and
# its tests are compiled once; and without the folder's path, so that another clone is compiled already. The tests with the tag
# verify are those of make verify.
TAGS    ?= nomsgpack
export GO
export GOFLAGS := $(filter-out -trimpath -tags=%,$(GOFLAGS)) -trimpath -tags=$(TAGS)
.PHONY: help demo test verify prove build bench figures clean

# help lists the targets, from their comments.
help:
	@echo 'Start with "make demo". Targets:'
	@sed -n 's/^## \([a-z]*\): /  make \1\t/p' $(firstword $(MAKEFILE_LIST)) | expand -t 17

# The first time the compiler works, silently, while packages are downloaded and installed.
INSTALL = @[ -x $(BIN) ] || $(GO) build ./internal/... ./strategies/... 2>/dev/null & deploy/deps.sh

## demo: install what is missing, start everything, show the page
demo:
	$(INSTALL) --best-effort; wait
	@$(MAKE) --no-print-directory build
	@exec $(BIN) up

## test: install what is missing, run the tests, with the race detector where goroutines share memory (ten minutes on two cores, once all is installed)
test: ready
	@deploy/test.sh -timeout 25m

## verify: run these and the slow checks (an hour), or those of PARTS="static tests fuzz image"; with SECKILL_TEST_MYSQL_DSN the tests again on that MySQL
verify: export TAGS := nomsgpack,verify
verify: ready
	@$(MAKE) --no-print-directory verify-parts
.PHONY: verify-parts
verify-parts:
	@deploy/verify.sh $(PARTS)

# ready: what the tests need is installed; what go test would do silently, checking and compiling, says what it does.
.PHONY: ready vet compile
ready:
	$(INSTALL) --tests || exit; wait
	@$(MAKE) --no-print-directory build
	@$(MAKE) --no-print-directory -j2 compile vet
vet:
	$(GO) vet -tags nomsgpack,verify ./...
compile:
	$(GO) build -race -v ./...

## prove: compute the guarantee matrix anew, with its counterexamples (15 minutes)
prove: build
	@deploy/deps.sh
	@touch bin/prove.begun
	$(BIN) prove --examples web/guarantees --json web/guarantees/matrix.json --markdown docs/guarantees.md
	@find web/guarantees -name '*.json' ! -newer bin/prove.begun -delete

## figures: measure the figures of docs/figures.md and the lessons anew, on an idle machine (about twenty-five minutes on two processors); FIGURES="--strategies conditional,zk" measures a few
figures: build
	@deploy/deps.sh
	deploy/figures.sh $(FIGURES)

## chaos: run every strategy with every fault into docs/chaos.md and the page (about three hours)
.PHONY: chaos
chaos: build
	@deploy/deps.sh
	$(BIN) chaos --seed 1 --json bin/chaos.json --markdown docs/chaos.md --figures web/static/chaos/results.json

## bench: run the benchmarks on real servers; AGAINST="v0.1.0" compares them in turn with those of another commit
bench: build
	@deploy/deps.sh
	@deploy/bench.sh $(if $(AGAINST),--against $(AGAINST))

## fuzz: give foreign bytes to everything that reads them (FUZZTIME=20s for each target)
.PHONY: fuzz
FUZZTIME ?= 20s
fuzz:
	@deploy/fuzz.sh $(FUZZTIME)

## image: build the image, start it, and sell on it (needs Docker)
.PHONY: image
image:
	@deploy/image.sh

## release: build the release of the tag at HEAD for Linux and macOS into dist
.PHONY: release
release:
	deploy/release.sh $(VERSION)

## picture: take the README's picture of today's page, in a real browser
.PHONY: picture
picture:
	@deploy/deps.sh --tests
	$(GO) test -count=1 -vet=off -ldflags=-s -run TestPictureOfTheReadme ./web/e2e -update

## site: write the page as static files into bin/site, to be served without a lab
.PHONY: site
site: build
	$(BIN) site bin/site

## build: compile bin/seckill
build: $(BIN)
	@:
$(BIN): $(SOURCES)
	$(GO) build -ldflags="-s -w" -o $@ ./cmd/seckill

## lint: golangci-lint with the checks of .golangci.yml (builds the linter the first time, a few minutes)
.PHONY: lint workflows cover vuln
GOLANGCI ?= github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v2.15.0
lint:
	$(GO) run $(GOLANGCI) run ./...

## workflows: actionlint for .github/workflows
workflows:
	$(GO) run github.com/rhysd/actionlint/cmd/actionlint@v1.7.12

## cover: the tests' coverage by package, and bin/cover.html
cover: ready
	$(GO) test -count=1 -vet=off -p 3 -parallel 4 -coverpkg=./... -coverprofile=bin/cover.out ./...
	$(GO) tool cover -html bin/cover.out -o bin/cover.html
	$(GO) tool cover -func bin/cover.out | tail -1

## vuln: known vulnerabilities of the dependencies (asks vuln.go.dev)
vuln:
	$(GO) run golang.org/x/vuln/cmd/govulncheck@v1.9.0 ./...

## clean: remove what was built here; installed servers and the history of runs stay
clean:
	@rm -rf bin dist
	@echo 'Removed bin and dist. Installed servers, and the history of runs, stay.'
