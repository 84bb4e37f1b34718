# make demo starts the lab, make test runs the tests. Both install what is missing. make alone lists all targets.
.DEFAULT_GOAL := help
GO      ?= go
BIN     := bin/seckill
SOURCES := $(shell git ls-files -co --exclude-standard 'cmd' 'internal' 'strategies' 'web' 'loadtest' go.mod go.sum 2>/dev/null)

# One line for each package that has ended, then the ten slowest tests. Results are never taken from the cache: servers are no
# part of its key. The packages that take longest begin first, and three at a time, as they wait for leases and time-outs more
# than they compute.
GOTESTSUM := $(GO) tool gotestsum --format pkgname --format-hide-empty-pkg
TESTFLAGS := -count=1 -vet=off -ldflags=-s -p 3 -parallel 4
# Everything is compiled without gin's MessagePack, a tenth of the program that nothing here speaks, so that the program and
# its tests are compiled once; and without the folder's path, so that another clone is compiled already. The tests with the tag
# verify are those of make verify.
TAGS    ?= nomsgpack
export GOFLAGS := $(filter-out -trimpath -tags=%,$(GOFLAGS)) -trimpath -tags=$(TAGS)
# The race detector is for packages whose goroutines share memory: the suites of all strategies and all locks, the service, ledger,
# lab, generator and explorer. The others send commands to programs, servers and browsers, or compute alone, with the code of those
# packages.
UNRACED := ./cmd/seckill ./web/e2e ./internal/prove ./internal/game ./loadtest/compare ./web ./internal ./internal/backend \
	./strategies/sqlrow ./strategies/mysqllock ./strategies/counter ./strategies/redislock ./strategies/zklock ./strategies/etcdlock \
	./internal/catalog ./internal/chaos ./internal/fault ./internal/lab/labtest ./internal/judge ./internal/stats ./internal/tables \
	./loadtest/report
# The run has a folder for all temporary files, which goes with it: a test program that is killed, or ended by Ctrl-C, runs no
# cleanup. Servers end by themselves then, within moments. The folder is in memory where there are eight gigabytes to spare: no
# test measures a disk, and a slow one makes servers so late that their sessions end.
define RUN
@within=$${TMPDIR:-/tmp}; memory=$$(df --output=avail -B1G /dev/shm 2>/dev/null | tail -n 1); \
[ -n "$$TMPDIR" ] || [ "$${memory:-0}" -lt 8 ] || [ "$$(awk '/MemAvailable/ { print int($$2 / 1048576) }' /proc/meminfo)" -lt 12 ] || within=/dev/shm; \
folder=$$(mktemp -d "$$within/sk.XXXXXX") || exit; \
echo "The tests' servers keep their data in $$folder."; \
tidy() { for _ in 1 2 3 4 5 6 7 8 9 10; do rm -rf "$$folder" 2>/dev/null && return; sleep 1; done; echo "left behind: $$folder"; }; \
trap tidy EXIT; trap 'exit 129' HUP; trap 'exit 130' INT; trap 'exit 143' TERM; \
export TMPDIR=$$folder; $(GOTESTSUM) --jsonfile-timing-events $$folder/ended --raw-command -- sh -c ' \
	unraced=$$($(GO) list $(UNRACED)); raced=$$($(GO) list ./strategies ./strategies/contract ./internal/lab ./... | grep -vxF "$$unraced"); \
	$(GO) test -json -race $(TESTFLAGS) $(1) $$raced; failed=$$?; $(GO) test -json $(TESTFLAGS) $(1) $$unraced && exit $$failed'; status=$$?; \
echo "The slowest tests:"; $(GO) tool gotestsum tool slowest --num 10 --jsonfile $$folder/ended; exit $$status
endef

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

## test: install what is missing, run the tests, with the race detector where goroutines share memory (five to seven minutes on two cores, once all is installed)
test: ready
	$(call RUN,-timeout 25m)

## verify: run these and the slow tests (an hour); with SECKILL_TEST_MYSQL_DSN all of them again on that MySQL
verify: export TAGS := nomsgpack,verify
verify: ready
	$(GO) tool staticcheck -tags nomsgpack,verify ./...
	@SECKILL_TEST_MYSQL_DSN= $(MAKE) --no-print-directory verify-once
	@if [ -n "$$SECKILL_TEST_MYSQL_DSN" ]; then echo "Now on the MySQL that was given:"; $(MAKE) --no-print-directory verify-once; \
	else echo "Not run on Oracle MySQL: SECKILL_TEST_MYSQL_DSN is not set."; fi
.PHONY: verify-once
verify-once:
	$(call RUN,-timeout 60m)

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

## prove: compute the guarantee matrix anew, with its counterexamples (a quarter of an hour)
prove: build
	@deploy/deps.sh
	@touch bin/prove.begun
	$(BIN) prove --examples web/guarantees --json web/guarantees/matrix.json --markdown docs/guarantees.md
	@find web/guarantees -name '*.json' ! -newer bin/prove.begun -delete

# All strategies sell in a flash sale, these in all rounds, because texts and lessons quote them; the others get one round.
# Each other sale has the strategies that it shows something of.
FIGURES_QUOTED = naive,atomic,conditional,version,for-update,redis-lua,zk,redlock,redsync,merged,redis-counter,redis-counter-mysql,redis-lock-mysql,redis-multi,mysql-counter,lock-row,get-lock,one-trip,order-first,queued,bucketed,unit-rows,redis-stream,redis-watchdog,redis-set-nx-px,etcd,redis-fenced,zk-fenced,etcd-fenced
FIGURES_OF_HOT_ROW = conditional,version,for-update,redis-lua,redis-counter,redis-counter-mysql,order-first,one-trip,queued,merged,bucketed,unit-rows,redis-stream
FIGURES_OF_MANY_SKUS = conditional,conditional-scan,for-update,for-update-scan,lock-table-central,lock-table-segmented,redis-lua,merged
FIGURES_OF_FEW_BUYERS = conditional,version,for-update,get-lock,lock-insert,lock-table-segmented,mysql-counter,redis-lua,redlock,zk,etcd
COMPARED = $(BIN) compare --turn 2s --markdown docs/figures.md --figures web/static/figures.json
## figures: measure the figures of docs/figures.md and the lessons anew, on an idle machine (half an hour); FIGURES="--strategies conditional,zk" measures a few
figures: build
	@deploy/deps.sh
	$(COMPARED) $(or $(FIGURES),--strategies all --all-rounds $(FIGURES_QUOTED)) --preset flash-sale --rounds 5
	$(COMPARED) $(or $(FIGURES),--strategies $(FIGURES_OF_HOT_ROW)) --preset hot-row --rounds 5
	$(COMPARED) $(or $(FIGURES),--strategies $(FIGURES_OF_MANY_SKUS)) --preset many-skus --stock 3 --buyers 300 --turn 500ms
	$(COMPARED) $(or $(FIGURES),--strategies $(FIGURES_OF_FEW_BUYERS)) --preset few-buyers
	$(BIN) bench locks --contenders 8,64 --crowd redis-lua,redsync,zk,etcd,get-lock,lock-row --for 300ms --markdown docs/figures.md --figures web/static/figures.json
	$(BIN) bench articles --for 500ms --markdown docs/figures.md --figures web/static/figures.json

## chaos: run every strategy with every fault into docs/chaos.md and the page (about three hours)
.PHONY: chaos
chaos: build
	@deploy/deps.sh
	$(BIN) chaos --seed 1 --json bin/chaos.json --markdown docs/chaos.md --figures web/static/chaos/results.json

## bench: run the Go benchmarks on real servers
bench: build
	@deploy/deps.sh
	$(GO) test -run '^$$' -bench . -benchtime 2s ./...

## picture: take the README's picture of today's page, in a real browser
.PHONY: picture
picture:
	@deploy/deps.sh --tests
	$(GO) test -count=1 -vet=off -ldflags=-s -run TestPictureOfTheReadme ./web/e2e -update

## build: compile bin/seckill
build: $(BIN)
	@:
$(BIN): $(SOURCES)
	$(GO) build -ldflags="-s -w" -o $@ ./cmd/seckill

## lint: golangci-lint with the checks of .golangci.yml (builds the linter the first time, a few minutes)
.PHONY: lint cover vuln
GOLANGCI ?= github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v2.15.0
lint:
	$(GO) run $(GOLANGCI) run ./...

## cover: the tests' coverage by package, and bin/cover.html
cover: ready
	$(GO) test $(TESTFLAGS) -coverpkg=./... -coverprofile=bin/cover.out ./...
	$(GO) tool cover -html bin/cover.out -o bin/cover.html
	$(GO) tool cover -func bin/cover.out | tail -1

## vuln: known vulnerabilities of the dependencies (asks vuln.go.dev)
vuln:
	$(GO) run golang.org/x/vuln/cmd/govulncheck@v1.9.0 ./...

## clean: remove what was built here; installed servers and the history of runs stay
clean:
	@rm -rf bin
	@echo 'Removed bin. Installed servers, and the history of runs, stay.'
