package lab

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"
)

// A Tool is a program, or a library of one, that can be looked for.
type Tool string

const (
	MariaDB       Tool = "MariaDB"
	GaleraLibrary Tool = "Galera"
	Redis         Tool = "Redis"
	ZooKeeper     Tool = "ZooKeeper"
	Etcd          Tool = "etcd"
)

// ServerTools are the programs that the lab runs. deploy/deps.sh looks for the same
// ones, in the same places.
var ServerTools = []Tool{MariaDB, Redis, ZooKeeper, Etcd, GaleraLibrary}

// A Program is a tool on this machine, or the lack of it.
type Program struct {
	Name string
	Path string // of the program, or of ZooKeeper's jar; empty: not found
	// Java and Classpath run ZooKeeper, which is not a program by itself.
	Java, Classpath string

	Use    string // what it is for
	ByHand string // how to get it without a package manager

	lookedFor string
}

// programs is what is known of each tool.
var programs = map[Tool]Program{
	MariaDB: {Name: "MariaDB or MySQL", lookedFor: "mariadbd or mysqld",
		Use:    "every strategy; without it SQLite, which has no row locks",
		ByHand: "get it from https://mariadb.org/download and put mariadbd on the PATH"},
	GaleraLibrary: {Name: "Galera", lookedFor: "Galera library (" + galeraFile + ")",
		Use:    "the lab with --topology galera only",
		ByHand: "get the Galera library for your MariaDB from https://galeracluster.com; only --topology galera needs it"},
	Redis: {Name: "Redis", lookedFor: "redis-server or valkey-server",
		Use:    "redsync and other Redis locks; without it an embedded one",
		ByHand: "get it from https://redis.io/downloads and put redis-server on the PATH"},
	ZooKeeper: {Name: "ZooKeeper", lookedFor: "ZooKeeper (zkServer.sh, zookeeper.jar, or a folder that ZOOKEEPER_HOME names) with Java",
		Use: "zk",
		ByHand: "unpack a release of https://zookeeper.apache.org/releases.html, set ZOOKEEPER_HOME to its folder, " +
			"and put java on the PATH, 17 or later, such as that of https://adoptium.net"},
	Etcd: {Name: "etcd", lookedFor: "etcd", Use: "etcd locks",
		ByHand: "get it from https://github.com/etcd-io/etcd/releases and put etcd on the PATH"},
}

// Found reports whether the program can be run.
func (p Program) Found() bool { return p.Path != "" }

// Missing says what was not found and how to get it; empty if it was found.
func (p Program) Missing() string {
	if p.Found() {
		return ""
	}
	return "no " + p.lookedFor + " was found on this machine: seckill doctor says how to get it"
}

// A Search looks for programs.
type Search struct {
	folders             []string
	javaHome, zookeeper string
}

// Where systems put servers that are not on the PATH.
var (
	offPath = []string{"/usr/sbin", "/usr/local/sbin", "/usr/local/bin", "/usr/bin", "/usr/libexec",
		"/opt/homebrew/bin", "/opt/homebrew/sbin", "/usr/local/mysql/bin"}
	javaFolders = []string{"/opt/homebrew/opt/openjdk/bin", "/usr/local/opt/openjdk/bin"}
)

// NewSearch looks on the PATH, and off it. It reads PATH, JAVA_HOME and ZOOKEEPER_HOME.
func NewSearch(getenv func(string) string) Search {
	return Search{javaHome: getenv("JAVA_HOME"), zookeeper: getenv("ZOOKEEPER_HOME"),
		folders: append(filepath.SplitList(getenv("PATH")), offPath...)}
}

// galeraFile is what MariaDB loads to be a node of a cluster.
const galeraFile = "libgalera_smm.so"

// Find looks for a tool.
func (s Search) Find(tool Tool) Program {
	p := programs[tool]
	switch tool {
	case MariaDB:
		p.Path = cmp.Or(s.lookupPath("mariadbd"), s.lookupPath("mysqld"))
	case Redis:
		p.Path = cmp.Or(s.lookupPath("redis-server"), s.lookupPath("valkey-server"))
	case Etcd:
		p.Path = s.lookupPath("etcd")
	case GaleraLibrary:
		if there, _ := filepath.Glob("/usr/lib*/galera*/" + galeraFile); s.folders != nil && there != nil {
			p.Path = there[0]
		}
	case ZooKeeper:
		if p.Java = s.findJava(); p.Java != "" {
			p.Path, p.Classpath = s.zookeeperJar()
		}
	}
	return p
}

// lookupPath returns a program's path, "" if there is none.
func (s Search) lookupPath(name string) string {
	for _, folder := range s.folders {
		if !filepath.IsAbs(folder) {
			continue // would depend on the working folder
		}
		path := filepath.Join(folder, name)
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() && info.Mode().Perm()&0o111 != 0 {
			return path
		}
	}
	return ""
}

// findJava looks into Homebrew's folders first: macOS has a /usr/bin/java that only
// says that there is none.
func (s Search) findJava() (path string) {
	s.folders = slices.Concat([]string{filepath.Join(s.javaHome, "bin")}, javaFolders, s.folders)
	return s.lookupPath("java")
}

// zookeeperJar looks for a release, as it is unpacked or as Homebrew installs it, and
// for Debian's package.
func (s Search) zookeeperJar() (jar, classpath string) {
	homes := []string{s.zookeeper}
	if script, err := filepath.EvalSymlinks(cmp.Or(s.lookupPath("zkServer.sh"), s.lookupPath("zkServer"))); err == nil {
		home := filepath.Dir(filepath.Dir(script))
		homes = append(homes, home, filepath.Join(home, "libexec"))
	}
	unpacked, _ := filepath.Glob("/opt/*zookeeper*")
	for _, home := range append(homes, unpacked...) {
		lib := filepath.Join(home, "lib")
		if own, _ := filepath.Glob(filepath.Join(lib, "zookeeper-[0-9]*.jar")); home != "" && own != nil {
			return own[0], filepath.Join(lib, "*") // Java expands it
		}
	}
	if jar = "/usr/share/java/zookeeper.jar"; isFile(jar) { // Debian's, which names all that it needs but a logger
		return jar, jar + ":/usr/share/java/slf4j-simple.jar"
	}
	return "", ""
}
