#!/usr/bin/env bash
# Runs the benchmarks and writes their figures to a file: deploy/bench.sh [FILE] [FLAG of go test]...
# Each benchmark runs six times, because benchstat gives no interval for fewer.
set -euo pipefail
cd "$(dirname "$0")/.."
GO=${GO:-go}
file=${1:-bin/bench.txt}
shift $(($# > 0))
mkdir -p "$(dirname "$file")"

packages=$(git grep -lE '^func Benchmark' -- '*_test.go' | xargs -n 1 dirname | sort -u | sed 's|^|./|')
# One package at a time: two at once would measure each other.
$GO test -p 1 -vet=off -ldflags=-s -run '^$' -bench . -benchmem -benchtime 200ms -count 6 "$@" $packages | tee "$file"

cat <<END
The figures are in $file. To compare a change with them:
  deploy/bench.sh bin/after.txt
  go run golang.org/x/perf/cmd/benchstat@latest $file bin/after.txt
A difference counts only where benchstat shows p < 0.05; ~ means that none was seen.
END
