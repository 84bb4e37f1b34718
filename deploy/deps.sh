#!/bin/sh
# Installs what this machine lacks with apt-get, dnf, apk or brew: the lab's servers and, with --tests, what only the tests use.
# It prints each command before it runs it, and starts no service. It asks for a password only where sudo needs one, and only
# at a terminal. With --best-effort it succeeds without what it could not install: the lab then uses its embedded engines.
set -u
tests='' best_effort='' manager=''
for argument; do
	case $argument in --tests) tests=yes ;; --best-effort) best_effort=yes ;; *) echo "usage: $0 [--tests] [--best-effort]" >&2; exit 2 ;; esac
done
# The places of internal/lab/find.go.
PATH=$PATH:/usr/sbin:/usr/local/sbin:/usr/local/bin:/usr/libexec:/opt/homebrew/bin:/opt/homebrew/sbin:/usr/local/mysql/bin
PATH=$PATH:/opt/homebrew/opt/openjdk/bin:/usr/local/opt/openjdk/bin

run() { echo "+ $*"; "$@"; }
fail() {
	echo "$*. For what your system has no package of, bin/seckill doctor says where to get it." >&2
	[ -n "$best_effort" ] || exit 1
	echo 'Going on without: the lab uses its embedded engines, and says which strategies cannot run.'
	exit 0
}
has() { for program; do if command -v "$program" >/dev/null 2>&1; then return 0; fi; done; return 1; }
file() { for path; do if [ -e "$path" ]; then return 0; fi; done; return 1; }

if has apt-get; then manager=apt-get knows='apt-cache show' refresh='apt-get update -q'
	install='apt-get install -y -q --no-install-recommends -o DPkg::Lock::Timeout=120'
elif has dnf; then manager=dnf knows='dnf -q info' refresh='dnf makecache' install='dnf install -y'
elif has apk; then manager=apk knows='apk search --exact' refresh='apk update' install='apk add'
elif has brew; then manager=brew knows='brew info' refresh='brew update' install='brew install'; fi
# need TOOL, then its packages for apt-get, dnf, apk and brew: releases differ, so the first that the manager knows is taken.
need() {
	missing="$missing${missing:+, }$1"
	case $manager in apt-get) choices=$2 ;; dnf) choices=$3 ;; apk) choices=$4 ;; brew) choices=$5 ;; *) choices='' ;; esac
	for package in $choices; do
		if [ -n "$($knows "$package" 2>/dev/null)" ]; then packages="$packages $package"; return; fi
	done
}
look() {
	missing='' packages=''
	has mariadbd mysqld || need MariaDB 'mariadb-server-core mariadb-server-core-10.6' mariadb-server mariadb mariadb
	has redis-server valkey-server || need Redis 'redis-server valkey-server' 'redis valkey' 'redis valkey' redis
	has etcd || need etcd etcd-server etcd etcd etcd
	has zkServer.sh zkServer || file "${ZOOKEEPER_HOME-}"/lib/zookeeper-[0-9]*.jar /opt/*zookeeper*/lib/zookeeper-[0-9]*.jar /usr/share/java/zookeeper.jar || need ZooKeeper libzookeeper-java '' '' zookeeper
	has java "${JAVA_HOME-}/bin/java" || need Java default-jre-headless 'java-latest-openjdk-headless java-21-openjdk-headless' 'openjdk21-jre-headless openjdk17-jre-headless' openjdk
	case $manager in apt-get | dnf) file /usr/lib*/galera*/libgalera_smm.so || need Galera galera-4 galera '' '' ;; esac
	[ -n "$tests" ] || return
	has chromium-headless-shell chromium google-chrome chromium-browser || file /Applications/*Chrom*.app || need Chromium 'chromium-headless-shell chromium chromium-browser' 'chromium-headless chromium' chromium chromium
	has gcc clang cc || need 'a C compiler' build-essential gcc build-base gcc
	has tsc || need TypeScript node-typescript npm typescript typescript
}
look
[ -n "$missing" ] || { echo 'Everything that is needed is installed.'; exit 0; }
echo "Missing: $missing."
[ -n "$manager" ] || fail 'No package manager that this script knows (apt-get, dnf, apk, brew) is here'
if [ $manager != brew ] && [ "$(id -u)" != 0 ]; then
	has sudo && { sudo -n true 2>/dev/null || [ -t 0 ]; } ||
		fail "Only root may install it: as root, run sh $0 ${tests:+--tests}, or $refresh; $install$packages"
	run sudo env "PATH=$PATH" "JAVA_HOME=${JAVA_HOME-}" "ZOOKEEPER_HOME=${ZOOKEEPER_HOME-}" sh "$0" ${tests:+--tests} || fail 'Not everything was installed'
	exit 0
fi
policy=${POLICY_RC_D:-/usr/sbin/policy-rc.d}
put_back() {
	if grep -qs 'seckill: ' "$policy"; then rm -f "$policy"; fi
	if [ -e "$policy.before-seckill" ]; then mv "$policy.before-seckill" "$policy"; fi
}
if [ $manager = apt-get ]; then # Debian starts the services that it installs, unless the policy file says no
	export DEBIAN_FRONTEND=noninteractive
	trap put_back EXIT; trap 'exit 130' INT; trap 'exit 143' TERM HUP
	if [ -e "$policy" ] && ! grep -q 'seckill: ' "$policy"; then mv "$policy" "$policy.before-seckill"; fi
	printf '#!/bin/sh\n# seckill: no service starts\nexit 101\n' >"$policy" && chmod 755 "$policy" || fail "$policy cannot be written"
fi
run $refresh
look # again: fresh lists know more packages
[ -z "$packages" ] || run $install $packages
case $packages in *npm*) has tsc || run npm install -g typescript ;; esac
for unit in redis-server valkey-server etcd; do # nor does one start at boot
	case "$packages " in *" $unit "* | *" $unit-server "*) ! has systemctl || systemctl disable --quiet $unit ;; esac
done
look
[ -z "$missing" ] || fail "Still missing: $missing"
echo 'Installed.'
