#!/usr/bin/env bash
# Runs the slow checks, each of which is a part: deploy/verify.sh [PART]...
# Without a part it runs all. "make verify" calls it after it has built everything with the build tag verify.
set -euo pipefail
cd "$(dirname "$0")/.."
GO=${GO:-go}

# tests PART runs the tests on the servers of this machine, and again on the MySQL server that was given.
tests() {
	SECKILL_TEST_MYSQL_DSN='' deploy/test.sh "$@" -timeout 60m
	if [ -n "${SECKILL_TEST_MYSQL_DSN-}" ]; then
		echo 'Now on the MySQL server that was given:'
		deploy/test.sh "$@" -timeout 60m
	else
		echo 'Not run on Oracle MySQL: SECKILL_TEST_MYSQL_DSN is not set.'
	fi
}

[ $# -gt 0 ] || set -- static tests fuzz image
for part; do
	echo "verify: $part"
	case $part in
	static) $GO tool staticcheck -tags nomsgpack,verify ./... ;;
	tests) tests ;;
	raced | unraced) tests "$part" ;;
	fuzz) deploy/fuzz.sh 60s ;;
	image)
		if docker info >/dev/null 2>&1; then
			deploy/image.sh
		else
			echo 'The image was not built: no Docker engine answers here.'
		fi
		;;
	*) echo "usage: $0 [static|tests|raced|unraced|fuzz|image]..." >&2; exit 2 ;;
	esac
done
