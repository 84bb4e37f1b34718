#!/usr/bin/env bash
# Builds a release into dist: deploy/release.sh [VERSION]. The version is that of the tag at HEAD, unless it is given.
# dist gets an archive for each system, SHA256SUMS, and notes.md, which is the version's section of CHANGELOG.md.
set -euo pipefail
cd "$(dirname "$0")/.."
GO=${GO:-go}
version=${1:-$(git describe --tags --exact-match --match 'v[0-9]*')}
targets=(linux/amd64 linux/arm64 darwin/amd64 darwin/arm64)

rm -rf dist
mkdir dist
awk -v heading="## ${version#v}" '
	/^## /{ inside = index($0 " ", heading " ") == 1; next }
	inside' CHANGELOG.md >dist/notes.md
[ -s dist/notes.md ] || { echo "CHANGELOG.md has no section \"## ${version#v}\"." >&2; exit 1; }

for target in "${targets[@]}"; do
	name=seckill-$version-${target/\//-}
	echo "release: $name"
	mkdir "dist/$name"
	GOOS=${target%/*} GOARCH=${target#*/} CGO_ENABLED=0 GOFLAGS= $GO build -trimpath -buildvcs=false -tags nomsgpack \
		-ldflags="-s -w -X main.version=$version" -o "dist/$name/seckill" ./cmd/seckill
	cp README.md README.zh.md CHANGELOG.md LICENSE "dist/$name"
	# The same commit makes the same bytes on every machine.
	tar --sort=name --owner=0 --group=0 --numeric-owner --mtime="@$(git log -1 --format=%ct)" -C dist -cf - "$name" |
		gzip -n >"dist/$name.tar.gz"
	rm -r "dist/$name"
done
cd dist
sha256sum ./*.tar.gz | sed 's|\./||' >SHA256SUMS
