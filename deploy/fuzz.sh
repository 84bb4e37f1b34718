#!/usr/bin/env bash
# Runs every fuzz target for a time: deploy/fuzz.sh [TIME] [PATTERN], such as deploy/fuzz.sh 20s Schedule.
# A failure's input is kept in the package's testdata/fuzz. Commit it with the repair: from then on every run tries it.
set -euo pipefail
cd "$(dirname "$0")/.."
GO=${GO:-go}
time=${1:-60s} pattern=${2-}
status=0 targets=0

while IFS=: read -r file target; do
	[[ $target =~ $pattern ]] || continue
	targets=$((targets + 1))
	echo "fuzz: $target of $(dirname "$file") for $time"
	$GO test -vet=off -ldflags=-s -run '^$' -fuzz "^$target\$" -fuzztime "$time" -fuzzminimizetime 100x "./$(dirname "$file")" || status=$?
done < <(git grep -oE 'func Fuzz\w+' -- '*_test.go' | sed 's/func //' | sort)

echo "fuzz: $targets targets"
[ $targets -gt 0 ] || status=1
exit $status
