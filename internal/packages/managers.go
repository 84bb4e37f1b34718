package packages

import _ "embed"

// A manager is a package manager. Packages are appended to its commands.
type manager struct {
	name     string            // the program
	packages map[Tool][]string // alternatives: releases of a system differ
	install  []string          // installs without asking
	refresh  []string          // fetches the package lists; nil if install does
	knows    []string          // succeeds and prints something if the package exists
	asRoot   bool              // false: must not run as root
}

var managers = []manager{
	{
		name: "apt-get", asRoot: true,
		packages: map[Tool][]string{
			MariaDB:    {"mariadb-server-core", "mariadb-server-core-10.6", "mariadb-server-core-10.5"},
			Galera:     {"galera-4"},
			Redis:      {"redis-server", "valkey-server"},
			Etcd:       {"etcd-server"},
			Etcdctl:    {"etcd-client"},
			ZooKeeper:  {"libzookeeper-java"},
			Java:       {"default-jre-headless"},
			Browser:    {"chromium", "chromium-browser"},
			Compiler:   {"build-essential"},
			TypeScript: {"node-typescript"},
			HAProxy:    {"haproxy"},
			Dump:       {"mariadb-client", "mariadb-client-10.6", "mariadb-client-10.5", "default-mysql-client"},
			Promtool:   {"prometheus"},
		},
		install: []string{"sh", "-c", aptScript, "apt", policyFile},
		refresh: []string{"apt-get", "update", "-q"},
		knows:   []string{"apt-cache", "show", "--no-all-versions"},
	},
	{
		name: "dnf", asRoot: true,
		packages: map[Tool][]string{
			MariaDB:  {"mariadb-server"},
			Galera:   {"galera"},
			Redis:    {"redis", "valkey"},
			Etcd:     {"etcd"},
			Etcdctl:  {"etcd"},
			Java:     {"java-latest-openjdk-headless", "java-21-openjdk-headless", "java-17-openjdk-headless"},
			Browser:  {"chromium"},
			Compiler: {"gcc"},
			HAProxy:  {"haproxy"},
			Dump:     {"mariadb"},
		},
		install: []string{"dnf", "install", "-y"},
		knows:   []string{"dnf", "-q", "info"},
	},
	{
		name: "pacman", asRoot: true,
		packages: map[Tool][]string{
			MariaDB:    {"mariadb"},
			Galera:     {"galera"},
			Redis:      {"valkey", "redis"},
			Etcd:       {"etcd"},
			Etcdctl:    {"etcd"},
			Java:       {"jre-openjdk-headless"},
			Browser:    {"chromium"},
			Compiler:   {"gcc"},
			TypeScript: {"typescript"},
			HAProxy:    {"haproxy"},
			Dump:       {"mariadb-clients"},
			Promtool:   {"prometheus"},
		},
		install: []string{"pacman", "-S", "--needed", "--noconfirm"},
		refresh: []string{"pacman", "-Sy", "--noconfirm"},
		knows:   []string{"pacman", "-Si"},
	},
	{
		name: "apk", asRoot: true,
		packages: map[Tool][]string{
			MariaDB:    {"mariadb"},
			Redis:      {"redis", "valkey"},
			Etcd:       {"etcd"},
			Etcdctl:    {"etcd-ctl", "etcd"},
			Java:       {"openjdk21-jre-headless", "openjdk17-jre-headless"},
			Browser:    {"chromium"},
			Compiler:   {"build-base"},
			TypeScript: {"typescript"},
			HAProxy:    {"haproxy"},
			Dump:       {"mariadb-client"},
			Promtool:   {"prometheus"},
		},
		install: []string{"apk", "add"},
		refresh: []string{"apk", "update"},
		knows:   []string{"apk", "search", "--exact"},
	},
	{
		name: "brew",
		packages: map[Tool][]string{
			MariaDB:    {"mariadb"},
			Redis:      {"redis"},
			Etcd:       {"etcd"},
			Etcdctl:    {"etcd"},
			ZooKeeper:  {"zookeeper"},
			Java:       {"openjdk"},
			Browser:    {"chromium", "google-chrome"},
			Compiler:   {"gcc"},
			TypeScript: {"typescript"},
			HAProxy:    {"haproxy"},
			Dump:       {"mariadb"},
			Promtool:   {"prometheus"},
		},
		install: []string{"brew", "install"},
		knows:   []string{"brew", "info"},
	},
}

const policyFile = "/usr/sbin/policy-rc.d"

//go:embed apt.sh
var aptScript string
