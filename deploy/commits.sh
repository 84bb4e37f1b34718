#!/usr/bin/env bash
# Checks the messages of commits: deploy/commits.sh RANGE, such as deploy/commits.sh origin/main..HEAD.
# A subject reads "area: what changes", in at most 72 characters. A body follows it and says why.
set -euo pipefail
cd "$(dirname "$0")/.."
range=${1:?"usage: $0 RANGE"}
status=0

refuse() {
	echo "${commit:0:10} $subject: $1" >&2
	status=1
}

for commit in $(git rev-list --no-merges "$range"); do
	subject=$(git log -1 --format=%s "$commit")
	case $subject in "build(deps)"*) continue ;; esac # dependabot's
	[[ $subject =~ ^[a-z][a-z0-9/_.,\ -]*:\ [^A-Z] ]] || refuse 'want "area: what changes", in lower case after the colon'
	[ ${#subject} -le 72 ] || refuse "it has ${#subject} characters, at most 72 are allowed"
	[ -n "$(git log -1 --format=%b "$commit")" ] || refuse 'it has no body that says why'
done
exit $status
