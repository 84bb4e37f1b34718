// Package packages finds the programs that the lab and its tests use on this
// machine, and plans how to install those that are missing with the system's
// package manager.
package packages

import (
	"runtime"
	"slices"
)

// A Tool is a program, or what a program needs, that can be looked for and
// installed.
type Tool string

const (
	MariaDB    Tool = "MariaDB"
	Galera     Tool = "Galera"
	Redis      Tool = "Redis"
	ZooKeeper  Tool = "ZooKeeper"
	Java       Tool = "Java"
	Etcd       Tool = "etcd"
	Browser    Tool = "Chromium"
	Etcdctl    Tool = "etcdctl"
	Compiler   Tool = "a C compiler"
	TypeScript Tool = "TypeScript"
	HAProxy    Tool = "HAProxy"
	Dump       Tool = "mariadb-dump"
	Promtool   Tool = "promtool"
)

// Servers are the programs that the lab runs; Testing are those that only tests
// and benchmarks use.
var (
	Servers = []Tool{MariaDB, Redis, ZooKeeper, Etcd, Galera}
	Testing = []Tool{Browser, Etcdctl, Compiler, TypeScript, Promtool, HAProxy, Dump}
)

// tools is what is known of each tool. Java is found with ZooKeeper.
var tools = map[Tool]struct {
	title    string   // what messages call it; empty: the tool's own name
	programs []string // any of these will do, the first is the best
	version  string   // the argument that asks for its version; empty: --version
	use      string   // what it is for
	byHand   string   // how to get it without a package manager
}{
	MariaDB: {title: "MariaDB or MySQL", programs: []string{"mariadbd", "mysqld"},
		use:    "every strategy; without it SQLite, which has no row locks",
		byHand: "get it from https://mariadb.org/download and put mariadbd on the PATH"},
	Galera: {programs: []string{galeraLibrary}, use: "the lab with --topology galera only",
		byHand: "get the Galera library for your MariaDB from https://galeracluster.com; only --topology galera needs it"},
	Redis: {programs: []string{"redis-server", "valkey-server"},
		use:    "redsync and other Redis locks; without it an embedded one",
		byHand: "get it from https://redis.io/downloads and put redis-server on the PATH"},
	ZooKeeper: {use: "zk",
		byHand: "unpack a release of https://zookeeper.apache.org/releases.html and set ZOOKEEPER_HOME to its folder"},
	Java: {byHand: "get a Java 17 or later from https://adoptium.net and put java on the PATH"},
	Etcd: {programs: []string{"etcd"}, use: "etcd locks",
		byHand: "get it from https://github.com/etcd-io/etcd/releases and put etcd on the PATH"},
	Browser: {programs: []string{"chromium", "google-chrome", "chromium-browser", "google-chrome-stable", "Chromium", "Google Chrome"},
		use:    "the tests of the page only",
		byHand: "get Chromium or Chrome and put it on the PATH; only the browser tests need it"},
	Etcdctl: {programs: []string{"etcdctl"}, version: "version", use: "a test of the etcd lock only",
		byHand: "get it from https://github.com/etcd-io/etcd/releases and put etcdctl on the PATH; only a test of the etcd lock needs it"},
	Compiler: {title: "C compiler", programs: []string{"gcc", "clang", "cc"},
		use:    "the race detector, in tests, only",
		byHand: "install gcc or clang with its C library's headers; only the race detector of the tests needs it"},
	TypeScript: {programs: []string{"tsc"}, use: "the test of the page's types only",
		byHand: "get Node.js from https://nodejs.org and run npm install -g typescript; only the test of the page's types needs it"},
	HAProxy: {programs: []string{"haproxy"}, version: "-v", use: "the test of a rolling restart",
		byHand: "get it from https://www.haproxy.org and put haproxy on the PATH; only a test needs it"},
	Dump: {programs: []string{"mariadb-dump", "mysqldump"}, use: "the test of a backup only",
		byHand: "install the client programs of MariaDB or MySQL; only the test of a backup needs mariadb-dump"},
	Promtool: {programs: []string{"promtool"}, use: "the test of the alert rules only",
		byHand: "get Prometheus from https://prometheus.io/download and put promtool on the PATH; only the test of the alert rules needs it"},
}

// Missing are the tools that this machine lacks: servers and, for the tests,
// the rest.
func (s Search) Missing(tests bool) (missing []Tool) {
	wanted := Servers
	if tests {
		wanted = slices.Concat(Servers, Testing)
	}
	for _, tool := range wanted {
		if tool == Galera && runtime.GOOS != "linux" {
			continue // nobody else packages it
		}
		missing = append(missing, s.Find(tool).Lacks...)
	}
	return missing
}
