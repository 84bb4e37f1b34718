# Install with apt-get without starting any service, now or at boot: the lab
# runs servers of its own. Debian asks the policy file before it starts one; the
# file is put back when the script ends, however it ends.
#
#   $1     the policy file
#   $2 …   the packages
policy=$1; shift
put_back() {
  rm -f "$policy"
  if [ -e "$policy.before-seckill" ]; then mv "$policy.before-seckill" "$policy"; fi
}
trap put_back EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP
if [ -e "$policy" ] && ! grep -q 'seckill deps' "$policy"; then mv "$policy" "$policy.before-seckill"; fi
printf '#!/bin/sh\n# seckill deps: no service starts\nexit 101\n' >"$policy" && chmod 755 "$policy" || exit
DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends -o DPkg::Lock::Timeout=120 "$@" || exit
for package in "$@"; do
  case $package in
    redis-server|valkey-server|prometheus) unit=$package ;;
    etcd-server) unit=etcd ;;
    *) continue ;;
  esac
  if command -v systemctl >/dev/null; then systemctl disable --quiet "$unit" || true; fi
done
