#!/usr/bin/env bash
# Builds the image and uses it as a newcomer would; prints what it measures, and fails where the image does.
# It needs Docker with BuildKit and curl. Where docker compose is installed, the servers of docker-compose.yml run too.
set -euo pipefail
cd "$(dirname "$0")/.."
image=${IMAGE:-seckill} port=${PORT:-18080} token=smoke
name=seckill-smoke-$$ volume=seckill-smoke-$$
page=http://127.0.0.1:$port

say() { echo "image: $*"; }
fail() {
	say "FAILED: $*" >&2
	docker logs --tail 100 "$name" >&2 || true
	exit 1
}
remove() {
	docker rm --force "$name" >/dev/null 2>&1 || true
	docker volume rm "$volume" >/dev/null 2>&1 || true
}
trap remove EXIT

# milliseconds COMMAND... runs a command and prints how long it took.
milliseconds() {
	local begun
	begun=$(date +%s%3N)
	"$@" >/dev/null
	echo $(($(date +%s%3N) - begun))
}

# await_page waits until the lab has started, at most two minutes. The page itself appears earlier.
await_page() {
	local until=$((SECONDS + 120))
	while [ $SECONDS -lt $until ]; do
		docker exec "$name" /seckill doctor --ready http://127.0.0.1:8080 >/dev/null 2>&1 && return
		sleep 0.2
	done
	fail 'the page did not appear within two minutes'
}
start() {
	# Without a read-only root, docker diff shows what the program writes.
	docker run --detach --init --name "$name" "$@" --publish "127.0.0.1:$port:8080" --env SECKILL_TOKEN=$token \
		--env SECKILL_HISTORY=/runs "$image" up --embedded --addr 0.0.0.0:8080 && await_page
}
call() { curl --silent --show-error --max-time 20 "$@"; }

# verdict STRATEGY STATUS sells in the container and compares the exit status, which is the verdict.
verdict() {
	local status=0
	docker exec "$name" /seckill load --strategy "$1" >/dev/null 2>&1 || status=$?
	[ $status = "$2" ] || fail "seckill load --strategy $1 ended with $status, want $2"
	say "$1 ended with exit status $status"
}

DOCKER_BUILDKIT=1 docker build ${BUILD_FLAGS-} --build-arg VERSION="${VERSION:-$(git describe --always --dirty)}" --tag "$image" .
say "$(docker run --rm "$image" --version), $(docker image inspect --format '{{.Architecture}}, {{.Size}} bytes' "$image")"

docker volume create "$volume" >/dev/null
say "the page appeared after $(milliseconds start --volume "$volume:/runs" --tmpfs /tmp) ms"
call --fail "$page/" | grep -qi '<title>' || fail 'the page has no title'

refused=$(call --output /dev/null --write-out '%{http_code}' --request PUT --header 'Content-Type: application/json' \
	--data '{"name":"demo","stock":1}' "$page/api/v1/skus/1")
[ "$refused" = 403 ] || fail "a call without the token was answered $refused, want 403"
verdict naive 10
verdict conditional 0

# The engine itself adds the mount points of --init and the volumes.
written=$(docker diff "$name" | grep -vE '^. /(runs|tmp|dev|sbin|sbin/docker-init)$|^. /(runs|tmp)/' || true)
[ -z "$written" ] || fail "files were written outside /runs and /tmp: $written"
say 'nothing was written outside /runs and /tmp'

docker restart --time 10 "$name" >/dev/null
await_page
say 'the page is back after a restart'
took=$(milliseconds docker stop --time 10 "$name")
[ "$(docker inspect --format '{{.State.ExitCode}}' "$name")" = 0 ] || fail 'SIGTERM did not end the program with 0'
[ "$took" -lt 5000 ] || fail "SIGTERM took $took ms, at most 5000 are allowed"
say "SIGTERM ended it after $took ms"

docker rm "$name" >/dev/null
start --read-only --tmpfs /tmp --volume "$volume:/runs" >/dev/null
say 'it starts with a read-only root'
remove

if ! docker compose version >/dev/null 2>&1; then
	say 'docker-compose.yml was not run: docker compose is not installed'
	exit
fi
export SECKILL_TOKEN=$token VERSION=smoke
trap 'remove; docker compose down --volumes' EXIT
docker compose up --detach --wait --wait-timeout 300
docker compose restart
docker compose up --detach --wait --wait-timeout 120 # the page waits for its servers
name=$(docker compose ps --quiet page)
status=0
docker compose exec -T page /seckill load --strategy naive || status=$?
[ $status = 10 ] || fail "naive ended with $status, want 10"
docker compose exec -T page /seckill load --strategy conditional
say 'docker-compose.yml: restarted, naive oversold and conditional held'
