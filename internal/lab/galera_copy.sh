#!/bin/sh
# Bring a node's data to another of this machine. The server that joins and the
# one that gives each run this in their data folder; both folders are the lab's.
# A server that has missed little gets that from the other directly (--bypass).
role= address= position= bypass= parent=$PPID
while [ $# -gt 0 ]; do
  case $1 in
    --role) role=$2; shift ;;
    --address) address=$2; shift ;;
    --gtid) position=$2; shift ;;
    --parent) parent=$2; shift ;;
    --bypass) bypass=yes ;;
  esac
  shift
done
address=${address%%/*}
note=../copy-${address##*:}
# await FILE: until it is written, or the server has died
await() {
  until [ -s "$1" ]; do
    kill -0 "$parent" || exit
    sleep 0.05
  done
}
case $role in
  joiner)
    rm -f "$note.done"
    pwd >"$note"
    echo "ready $address/"
    await "$note.done"
    cat "$note.done"
    ;;
  donor)
    to=$(cat "$note") || exit
    if [ -z "$bypass" ]; then
      rm -f tables_flushed
      echo "flush tables" # the server holds writes back, and says where it is
      await tables_flushed
      position=$(cat tables_flushed)
      for each in */ ibdata* undo* ib_logfile* aria_log*; do
        [ ! -e "$each" ] || cp -a "$each" "$to/" || exit
      done
      echo continue
      rm -f tables_flushed
    fi
    echo "$position" >"$note.new" && mv "$note.new" "$note.done" || exit
    echo "done $position"
    ;;
esac
