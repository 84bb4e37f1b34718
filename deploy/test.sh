#!/usr/bin/env bash
# Runs the tests of all packages: deploy/test.sh [raced|unraced] [FLAG of go test]...
# Without a part it runs both. "make test" calls it after it has built everything and installed the servers.
#
# One line is printed for each package that has ended, then the ten slowest tests. Results never come from the cache,
# because the servers are no part of its key. Three packages run at a time, the longest first: they wait for leases and
# time-outs more than they compute.
set -euo pipefail
cd "$(dirname "$0")/.."
GO=${GO:-go}
flags=(-count=1 -vet=off -ldflags=-s -p 3 -parallel 4)

# The race detector is for packages whose goroutines share memory: the suites of all strategies and all locks, the
# service, ledger, lab, generator and explorer. The packages below send commands to programs, servers and browsers, or
# compute alone, with the code of those packages.
unraced=(
	./cmd/seckill ./web/e2e ./internal/prove ./internal/game ./loadtest/compare ./web ./internal ./internal/backend
	./strategies/sqlrow ./strategies/mysqllock ./strategies/counter ./strategies/redislock ./strategies/zklock
	./strategies/etcdlock ./internal/catalog ./internal/chaos ./internal/fault ./internal/judge
	./internal/stats ./internal/tables ./internal/site ./internal/explore/policy
)
longest=(./strategies ./strategies/contract ./internal/lab)

# go_test PART FLAG... writes the events of the part's tests as JSON.
go_test() {
	local part=$1 packages without
	shift
	without=$($GO list "${unraced[@]}")
	case $part in
	raced)
		packages=$($GO list "${longest[@]}" ./... | grep -vxF "$without")
		$GO test -json -race "${flags[@]}" "$@" $packages
		;;
	unraced)
		$GO test -json "${flags[@]}" "$@" $without
		;;
	both)
		local failed=0
		go_test raced "$@" || failed=$?
		go_test unraced "$@" && return $failed
		;;
	esac
}

# folder_for_data prints where the tests keep temporary files. It is in memory where eight gigabytes are to spare: no
# test measures a disk, and a slow disk makes servers so late that their sessions end.
folder_for_data() {
	local in_memory available
	[ -z "${TMPDIR-}" ] || { echo "$TMPDIR"; return; }
	in_memory=$(df --output=avail -B1G /dev/shm 2>/dev/null | tail -n 1) || true
	available=$(awk '/MemAvailable/ { print int($2 / 1048576) }' /proc/meminfo 2>/dev/null) || true
	if [ "${in_memory:-0}" -ge 8 ] && [ "${available:-0}" -ge 12 ]; then echo /dev/shm; else echo /tmp; fi
}

# remove_data removes the run's folder. Servers whose test program was killed end within moments, and write until then.
remove_data() {
	for _ in {1..10}; do
		rm -rf "$data" 2>/dev/null && return
		sleep 1
	done
	echo "left behind: $data"
}

if [ "${1-}" = --json ]; then # called by gotestsum below
	shift
	go_test "$@"
	exit
fi

part=both
case ${1-} in raced | unraced) part=$1; shift ;; esac
# The run has one folder for all temporary files. A test program that is killed, or ended by Ctrl-C, cleans up nothing.
data=$(mktemp -d "$(folder_for_data)/sk.XXXXXX")
trap remove_data EXIT
trap 'exit 129' HUP
trap 'exit 130' INT
trap 'exit 143' TERM
echo "The tests' servers keep their data in $data."
export TMPDIR=$data
status=0
$GO tool gotestsum --format pkgname --format-hide-empty-pkg --jsonfile-timing-events "$data/ended" \
	--raw-command -- "deploy/test.sh" --json "$part" "$@" || status=$?
echo 'The slowest tests:'
$GO tool gotestsum tool slowest --num 10 --jsonfile "$data/ended"
exit $status
