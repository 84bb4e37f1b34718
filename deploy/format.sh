#!/usr/bin/env bash
# Names the Go files that are not formatted, and fails if there are any.
set -euo pipefail
cd "$(dirname "$0")/.."
unformatted=$(git ls-files '*.go' | xargs gofmt -l)
[ -z "$unformatted" ] || { echo "Run gofmt -w on:" $unformatted >&2; exit 1; }
