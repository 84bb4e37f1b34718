package lab

import (
	"os"
	"path/filepath"
	"slices"
)

// A Tool is a program, or the library of a program, that a lab uses.
type Tool string

const (
	MariaDB       Tool = "MariaDB"
	GaleraLibrary Tool = "Galera"
	Redis         Tool = "Redis"
	ZooKeeper     Tool = "ZooKeeper"
	Etcd          Tool = "etcd"
)

// ServerTools are the tools of the lab's servers. deploy/deps.sh looks for the same tools in the same places.
var ServerTools = []Tool{MariaDB, Redis, ZooKeeper, Etcd, GaleraLibrary}

// A Program is a tool on this machine. It may be missing.
type Program struct {
	Name string
	Path string // the path of the program, or of ZooKeeper's jar; "" if the tool is missing
	// Java and Classpath are the program and the -cp argument that run ZooKeeper, which is a jar.
	Java, Classpath string

	Use    string // what needs the tool
	ByHand string // how to get the tool without a package manager

	files []string // the names of the program's file; nil if Find looks for the tool in another way
}

var knownPrograms = map[Tool]Program{
	MariaDB: {Name: "MariaDB or MySQL", files: []string{"mariadbd", "mysqld"},
		Use:    "every strategy; without it SQLite, which has no row locks",
		ByHand: "get it from https://mariadb.org/download and put mariadbd on the PATH"},
	GaleraLibrary: {Name: "Galera", Use: "the lab with --topology galera only",
		ByHand: "get the Galera library for your MariaDB from https://galeracluster.com; " +
			"only --topology galera needs it"},
	Redis: {Name: "Redis", files: []string{"redis-server", "valkey-server"},
		Use:    "redsync and other Redis locks; without it an embedded one",
		ByHand: "get it from https://redis.io/downloads and put redis-server on the PATH"},
	ZooKeeper: {Name: "ZooKeeper", Use: "zk",
		ByHand: "unpack a release of https://zookeeper.apache.org/releases.html, set ZOOKEEPER_HOME to its folder, " +
			"and put java on the PATH, 17 or later, such as that of https://adoptium.net"},
	Etcd: {Name: "etcd", files: []string{"etcd"}, Use: "etcd locks",
		ByHand: "get it from https://github.com/etcd-io/etcd/releases and put etcd on the PATH"},
}

// Found reports whether the program can be run.
func (p Program) Found() bool { return p.Path != "" }

// Missing says that the tool is missing and how to get it.
func (p Program) Missing() string {
	return "no " + p.Name + " was found on this machine: seckill doctor says how to get it"
}

// A Search looks for programs.
type Search struct {
	folders             []string
	javaHome, zookeeper string
}

var (
	// extraFolders are searched after the PATH, because some packages install servers in these folders.
	extraFolders = []string{"/usr/sbin", "/usr/local/sbin", "/usr/local/bin", "/usr/bin", "/usr/libexec",
		"/opt/homebrew/bin", "/opt/homebrew/sbin", "/usr/local/mysql/bin"}
	javaFolders = []string{"/opt/homebrew/opt/openjdk/bin", "/usr/local/opt/openjdk/bin"}
)

// NewSearch returns a search on the PATH and in some other folders. It reads PATH, JAVA_HOME and ZOOKEEPER_HOME.
func NewSearch(getenv func(string) string) Search {
	return Search{javaHome: getenv("JAVA_HOME"), zookeeper: getenv("ZOOKEEPER_HOME"),
		folders: append(filepath.SplitList(getenv("PATH")), extraFolders...)}
}

// Find looks for a tool.
func (s Search) Find(tool Tool) Program {
	p := knownPrograms[tool]
	switch tool {
	case GaleraLibrary: // the library that makes MariaDB a node of a cluster
		if found, _ := filepath.Glob("/usr/lib*/galera*/libgalera_smm.so"); s.folders != nil && found != nil {
			p.Path = found[0]
		}
	case ZooKeeper:
		if p.Java = s.findJava(); p.Java != "" {
			p.Path, p.Classpath = s.zookeeperJar()
		}
	default:
		p.Path = s.lookupPath(p.files...)
	}
	return p
}

// lookupPath returns the path of the first of these programs that was found; "" if none was.
func (s Search) lookupPath(names ...string) string {
	for _, name := range names {
		for _, folder := range s.folders {
			path := filepath.Join(folder, name)
			info, err := os.Stat(path)
			// Servers run in another folder, where a relative path would name another file.
			if err == nil && filepath.IsAbs(path) && info.Mode().IsRegular() && info.Mode().Perm()&0o111 != 0 {
				return path
			}
		}
	}
	return ""
}

// findJava returns the path of Java. It searches Homebrew's folders before the PATH, because /usr/bin/java of macOS may
// be a program that only prints that Java is missing.
func (s Search) findJava() string {
	s.folders = slices.Concat([]string{filepath.Join(s.javaHome, "bin")}, javaFolders, s.folders)
	return s.lookupPath("java")
}

// zookeeperJar looks for an unpacked release, Homebrew's package and Debian's package.
func (s Search) zookeeperJar() (jar, classpath string) {
	homes := []string{s.zookeeper}
	if script, err := filepath.EvalSymlinks(s.lookupPath("zkServer.sh", "zkServer")); err == nil {
		home := filepath.Dir(filepath.Dir(script))
		homes = append(homes, home, filepath.Join(home, "libexec"))
	}
	unpacked, _ := filepath.Glob("/opt/*zookeeper*")
	for _, home := range append(homes, unpacked...) {
		lib := filepath.Join(home, "lib")
		if found, _ := filepath.Glob(filepath.Join(lib, "zookeeper-[0-9]*.jar")); home != "" && found != nil {
			return found[0], filepath.Join(lib, "*") // Java replaces * by all jars of the folder
		}
	}
	if jar = "/usr/share/java/zookeeper.jar"; isFile(jar) { // this jar lists the jars that it needs, except a logger
		return jar, jar + ":/usr/share/java/slf4j-simple.jar"
	}
	return "", ""
}
