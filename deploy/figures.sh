#!/usr/bin/env bash
# Measures the figures of docs/figures.md, the page and the lessons anew: deploy/figures.sh [FLAG of seckill compare]...
# It takes about twenty-five minutes on an idle machine with two processors. With flags, such as --strategies conditional,zk, every sale is
# measured with these strategies only.
set -euo pipefail
cd "$(dirname "$0")/.."
program=bin/seckill
into=(--markdown docs/figures.md --figures web/static/figures.json)

# All strategies sell in a flash sale. The quoted ones sell in all rounds, because texts and lessons quote them; the others
# get one round. Each other sale has the strategies that it shows something of.
quoted=naive,atomic,conditional,version,for-update,mysql-counter,lock-row,get-lock
quoted+=,redis-lua,redlock,redsync,redis-counter,redis-counter-mysql,redis-lock-mysql,redis-multi
quoted+=,redis-watchdog,redis-set-nx-px,redis-fenced,zk,zk-fenced,etcd,etcd-fenced
quoted+=,merged,one-trip,order-first,queued,bucketed,unit-rows,redis-stream
hot_row=conditional,version,for-update,redis-lua,redis-counter,redis-counter-mysql,order-first,one-trip
hot_row+=,queued,merged,bucketed,unit-rows,redis-stream
many_skus=conditional,conditional-scan,for-update,for-update-scan,lock-table-central,lock-table-segmented,redis-lua,merged
few_buyers=conditional,version,for-update,get-lock,lock-insert,lock-table-segmented,mysql-counter
few_buyers+=,redis-lua,redlock,zk,etcd
crowd=redis-lua,redsync,zk,etcd,get-lock,lock-row

# sale STRATEGIES FLAG... measures one sale. The flags of the command line come in place of its strategies.
chosen=("$@")
sale() {
	local strategies=(--strategies "$1")
	shift
	if [ ${#chosen[@]} -gt 0 ]; then strategies=("${chosen[@]}"); fi
	"$program" compare "${into[@]}" "${strategies[@]}" "$@"
}

all=(all)
[ ${#chosen[@]} -gt 0 ] || all+=(--all-rounds "$quoted")
sale "${all[@]}" --preset flash-sale --stock 50 --buyers 1000 --turn 2s --rounds 5
sale "$hot_row" --preset hot-row --turn 1s --rounds 5
sale "$many_skus" --preset many-skus --turn 500ms --skus 20 --stock 8 --buyers 320
sale "$few_buyers" --preset few-buyers --turn 1s
"$program" bench locks --contenders 8,64 --crowd "$crowd" --gated redis-lua,zk --for 300ms "${into[@]}"
"$program" bench articles --for 500ms "${into[@]}"
