#!/usr/bin/env bash
# Runs the benchmarks on real servers: deploy/bench.sh [--against REVISION] [FLAG of a test program, such as -test.bench=Purchase]...
# The figures go to bin/bench.txt; with --against, those of the revision go to bin/bench.base.txt, and benchstat compares the two.
#
# Each round runs every benchmark once, first for one side, then for the other, and the next round in reverse. The speed of
# a machine drifts by a third within minutes: figures of two runs, one after the other, differ without any change.
set -euo pipefail
cd "$(dirname "$0")/.."
GO=${GO:-go}
rounds=6 # benchstat gives no interval for fewer
base=
if [ "${1-}" = --against ]; then
	base=$(git rev-parse --verify "$2^{commit}")
	shift 2
fi

work=$(mktemp -d)
trap 'rm -rf "$work"; git worktree prune' EXIT
mkdir -p bin

# compile SIDE FOLDER builds the benchmarks of the source in FOLDER. A line of $work/SIDE is a program and where it runs.
compile() {
	local package n=0
	echo "Compiling the benchmarks of $2." >&2
	for package in $(cd "$2" && git grep -lE '^func Benchmark' -- '*_test.go' | xargs -n 1 dirname | sort -u); do
		n=$((n + 1))
		(cd "$2" && $GO test -c -vet=off -ldflags=-s -o "$work/$1.$n.test" "./$package")
		echo "$work/$1.$n.test $2/$package" >>"$work/$1"
	done
}

# measure SIDE FILE FLAG... runs every benchmark of the side once. What servers and clients log is no figure.
measure() {
	local side=$1 file=$2 program folder
	shift 2
	while read -r program folder; do
		if ! (cd "$folder" && "$program" -test.run '^$' -test.bench . -test.benchmem -test.benchtime 200ms "$@") \
			>"$work/figures" 2>"$work/log" </dev/null; then
			cat "$work/figures" "$work/log" >&2
			exit 1
		fi
		tee -a "$file" <"$work/figures" | grep ^Benchmark || true # none, if the flags leave out all of them
	done <"$work/$side"
}

compile here "$PWD"
: >bin/bench.txt
if [ -n "$base" ]; then
	git worktree add --quiet --detach "$work/source" "$base"
	compile base "$work/source"
	: >bin/bench.base.txt
fi
for round in $(seq $rounds); do
	echo "Round $round of $rounds." >&2
	[ -z "$base" ] || [ $((round % 2)) = 0 ] || measure base bin/bench.base.txt "$@"
	measure here bin/bench.txt "$@"
	[ -z "$base" ] || [ $((round % 2)) = 1 ] || measure base bin/bench.base.txt "$@"
done
[ -z "$base" ] || $GO run golang.org/x/perf/cmd/benchstat@latest \
	"$(git rev-parse --short "$base")"=bin/bench.base.txt here=bin/bench.txt
