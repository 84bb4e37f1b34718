package lab

// A Need is something that a package manager can bring.
type Need string

const (
	NeedSQL       Need = "MariaDB"
	NeedRedis     Need = "Redis"
	NeedEtcd      Need = "etcd"
	NeedZooKeeper Need = "ZooKeeper"
	NeedJava      Need = "Java"
	NeedEtcdctl   Need = "etcdctl"
	NeedBrowser   Need = "Chromium"
	NeedCompiler  Need = "a C compiler"
	NeedTypes     Need = "TypeScript"
)

// byHand is how to get what no package manager here has.
var byHand = map[Need]string{
	NeedSQL:       "get it from https://mariadb.org/download and put mariadbd on the PATH",
	NeedRedis:     "get it from https://redis.io/downloads and put redis-server on the PATH",
	NeedEtcd:      "get it from https://github.com/etcd-io/etcd/releases and put etcd on the PATH",
	NeedZooKeeper: "unpack a release of https://zookeeper.apache.org/releases.html and set ZOOKEEPER_HOME to its folder",
	NeedJava:      "get a Java 17 or later from https://adoptium.net and put java on the PATH",
	NeedEtcdctl:   "get it from https://github.com/etcd-io/etcd/releases and put etcdctl on the PATH; a test of the etcd lock needs it, nothing else does",
	NeedBrowser:   "get Chromium or Chrome and put it on the PATH; the browser tests need it, nothing else does",
	NeedCompiler:  "install gcc or clang with its C library's headers; the race detector of the tests needs it, nothing else does",
	NeedTypes:     "get Node.js from https://nodejs.org and run npm install -g typescript; the test of the page's types needs it, nothing else does",
}

// A manager is a package manager, as a table.
type manager struct {
	name     string            // the program
	packages map[Need][]string // releases of a system differ: the first that is known is taken
	install  []string          // installs the packages that are appended, and asks nothing
	refresh  []string          // fetches the lists of packages; nil where install does
	knows    []string          // prints something and succeeds if the package that is appended exists
	asRoot   bool              // else as anybody but root
}

var managers = []manager{
	{
		name: "apt-get", asRoot: true,
		packages: map[Need][]string{
			NeedSQL:       {"mariadb-server-core", "mariadb-server-core-10.6", "mariadb-server-core-10.5"},
			NeedRedis:     {"redis-server", "valkey-server"},
			NeedEtcd:      {"etcd-server"},
			NeedEtcdctl:   {"etcd-client"},
			NeedZooKeeper: {"libzookeeper-java"},
			NeedJava:      {"default-jre-headless"},
			NeedBrowser:   {"chromium", "chromium-browser"},
			NeedCompiler:  {"build-essential"},
			NeedTypes:     {"node-typescript"},
		},
		install: []string{"sh", "-c", aptScript, "apt", policyFile},
		refresh: []string{"apt-get", "update", "-q"},
		knows:   []string{"apt-cache", "show", "--no-all-versions"},
	},
	{
		name: "dnf", asRoot: true,
		packages: map[Need][]string{
			NeedSQL:      {"mariadb-server"},
			NeedRedis:    {"redis", "valkey"},
			NeedEtcd:     {"etcd"},
			NeedEtcdctl:  {"etcd"},
			NeedJava:     {"java-latest-openjdk-headless", "java-21-openjdk-headless", "java-17-openjdk-headless"},
			NeedBrowser:  {"chromium"},
			NeedCompiler: {"gcc"},
		},
		install: []string{"dnf", "install", "-y"},
		knows:   []string{"dnf", "-q", "info"},
	},
	{
		name: "pacman", asRoot: true,
		packages: map[Need][]string{
			NeedSQL:      {"mariadb"},
			NeedRedis:    {"valkey", "redis"},
			NeedEtcd:     {"etcd"},
			NeedEtcdctl:  {"etcd"},
			NeedJava:     {"jre-openjdk-headless"},
			NeedBrowser:  {"chromium"},
			NeedCompiler: {"gcc"},
			NeedTypes:    {"typescript"},
		},
		install: []string{"pacman", "-S", "--needed", "--noconfirm"},
		refresh: []string{"pacman", "-Sy", "--noconfirm"},
		knows:   []string{"pacman", "-Si"},
	},
	{
		name: "apk", asRoot: true,
		packages: map[Need][]string{
			NeedSQL:      {"mariadb"},
			NeedRedis:    {"redis", "valkey"},
			NeedEtcd:     {"etcd"},
			NeedEtcdctl:  {"etcd-ctl", "etcd"},
			NeedJava:     {"openjdk21-jre-headless", "openjdk17-jre-headless"},
			NeedBrowser:  {"chromium"},
			NeedCompiler: {"build-base"},
			NeedTypes:    {"typescript"},
		},
		install: []string{"apk", "add"},
		refresh: []string{"apk", "update"},
		knows:   []string{"apk", "search", "--exact"},
	},
	{
		name: "brew",
		packages: map[Need][]string{
			NeedSQL:       {"mariadb"},
			NeedRedis:     {"redis"},
			NeedEtcd:      {"etcd"},
			NeedEtcdctl:   {"etcd"},
			NeedZooKeeper: {"zookeeper"},
			NeedJava:      {"openjdk"},
			NeedBrowser:   {"chromium", "google-chrome"},
			NeedCompiler:  {"gcc"},
			NeedTypes:     {"typescript"},
		},
		install: []string{"brew", "install"},
		knows:   []string{"brew", "info"},
	},
}

const policyFile = "/usr/sbin/policy-rc.d"

// aptScript installs without letting a package start its service, now or when
// the machine boots: the lab runs its own. Debian asks the policy file, which
// is put back as it was when the script ends, also when it is interrupted.
//
//	$1      the policy file
//	$2 …    the packages
const aptScript = `policy=$1; shift
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
    redis-server|valkey-server) unit=$package ;;
    etcd-server) unit=etcd ;;
    *) continue ;;
  esac
  if command -v systemctl >/dev/null; then systemctl disable --quiet "$unit" || true; fi
done`
