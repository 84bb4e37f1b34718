package lab

import (
	"cmp"
	"os"
	"path/filepath"
	"strings"
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

// tools is what is known of each tool.
var tools = map[Tool]struct {
	title    string   // what messages call it; empty: the tool's own name
	programs []string // any of these will do, the first is the best
	use      string   // what it is for
	byHand   string   // how to get it without a package manager
}{
	MariaDB: {title: "MariaDB or MySQL", programs: []string{"mariadbd", "mysqld"},
		use:    "every strategy; without it SQLite, which has no row locks",
		byHand: "get it from https://mariadb.org/download and put mariadbd on the PATH"},
	GaleraLibrary: {programs: []string{galeraFile}, use: "the lab with --topology galera only",
		byHand: "get the Galera library for your MariaDB from https://galeracluster.com; only --topology galera needs it"},
	Redis: {programs: []string{"redis-server", "valkey-server"},
		use:    "redsync and other Redis locks; without it an embedded one",
		byHand: "get it from https://redis.io/downloads and put redis-server on the PATH"},
	ZooKeeper: {use: "zk",
		byHand: "unpack a release of https://zookeeper.apache.org/releases.html and set ZOOKEEPER_HOME to its folder"},
	Etcd: {programs: []string{"etcd"}, use: "etcd locks",
		byHand: "get it from https://github.com/etcd-io/etcd/releases and put etcd on the PATH"},
}

// A Program is a tool on this machine, or the lack of it.
type Program struct {
	Name string
	Path string // of the program, or of ZooKeeper's jar; empty: not found
	// Java and Classpath run ZooKeeper, which is not a program by itself.
	Java, Classpath string

	Use    string // what it is for
	ByHand string // how to get what is missing without a package manager; empty: nothing is

	lookedFor string
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
	folders, libraries  []string
	javaHome, zookeeper string
}

// NewSearch looks on the PATH, and where systems put servers that are not on
// it. It reads PATH, JAVA_HOME and ZOOKEEPER_HOME.
func NewSearch(getenv func(string) string) Search {
	s := Search{javaHome: getenv("JAVA_HOME"), zookeeper: getenv("ZOOKEEPER_HOME"), libraries: galeraFolders}
	s.folders = append(filepath.SplitList(getenv("PATH")), "/usr/sbin", "/usr/local/sbin", "/usr/local/bin", "/usr/bin",
		"/usr/libexec", "/opt/homebrew/bin", "/opt/homebrew/sbin", "/usr/local/mysql/bin")
	for _, pattern := range []string{ // what Homebrew and MacPorts keep off the PATH
		"/opt/homebrew/opt/{}*/bin", "/usr/local/opt/{}*/bin", "/opt/local/lib/{}*/bin"} {
		for _, name := range []string{"mariadb", "mysql", "redis", "valkey", "etcd"} {
			kegs, _ := filepath.Glob(strings.ReplaceAll(pattern, "{}", name))
			s.folders = append(s.folders, kegs...)
		}
	}
	return s
}

// Find looks for a tool.
func (s Search) Find(tool Tool) Program {
	about := tools[tool]
	p := Program{Name: cmp.Or(about.title, string(tool)), Use: about.use}
	switch tool {
	case ZooKeeper:
		s.findZooKeeper(&p)
		return p
	case GaleraLibrary:
		s.findGalera(&p)
		return p
	}
	for _, name := range about.programs {
		if p.Path = s.lookup(name); p.Path != "" {
			return p
		}
	}
	p.lookedFor = strings.Join(about.programs[:min(2, len(about.programs))], " or ")
	p.ByHand = about.byHand
	return p
}

// lookup returns a program's path, "" if there is none.
func (s Search) lookup(name string) string {
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

// galeraFile is what MariaDB loads to be a node of a cluster.
const galeraFile = "libgalera_smm.so"

var galeraFolders = []string{"/usr/lib/galera", "/usr/lib64/galera-4", "/usr/lib64/galera", "/usr/lib/galera-4", "/usr/lib"}

// findGalera looks where systems put the library.
func (s Search) findGalera(p *Program) {
	for _, folder := range s.libraries {
		if path := filepath.Join(folder, galeraFile); isFile(path) {
			p.Path = path
			return
		}
	}
	p.lookedFor = "Galera library (" + galeraFile + ")"
	p.ByHand = tools[GaleraLibrary].byHand
}

// findZooKeeper looks for Java and a ZooKeeper: a release, as it is unpacked or
// as Homebrew installs it, or Debian's jars. Both must be found.
func (s Search) findZooKeeper(p *Program) {
	p.Java = s.java()
	jars := debianJars("/usr/share/java")
	for _, home := range s.zookeeperHomes() {
		if release := zookeeperJars(home); release != nil {
			jars = release
			break
		}
	}
	p.Classpath = strings.Join(jars, string(os.PathListSeparator))
	var byHand []string
	if jars == nil {
		p.lookedFor = "ZooKeeper (zkServer.sh, zookeeper.jar, or a folder that ZOOKEEPER_HOME names)"
		byHand = append(byHand, tools[ZooKeeper].byHand)
	}
	if p.Java == "" {
		p.lookedFor = cmp.Or(p.lookedFor, "Java, which ZooKeeper needs,")
		byHand = append(byHand, "get a Java 17 or later from https://adoptium.net and put java on the PATH")
	}
	if p.ByHand = strings.Join(byHand, ", and "); p.ByHand == "" {
		p.Path = jars[0]
	}
}

// java looks into Homebrew's folders first: macOS has a /usr/bin/java that only
// says that there is none.
func (s Search) java() (path string) {
	s.folders = append([]string{filepath.Join(s.javaHome, "bin"),
		"/opt/homebrew/opt/openjdk/bin", "/usr/local/opt/openjdk/bin"}, s.folders...)
	return s.lookup("java")
}

func (s Search) zookeeperHomes() []string {
	homes := []string{s.zookeeper}
	for _, script := range []string{"zkServer.sh", "zkServer"} {
		path := s.lookup(script)
		if path == "" {
			continue
		}
		if real, err := filepath.EvalSymlinks(path); err == nil {
			path = real
		}
		home := filepath.Dir(filepath.Dir(path))
		homes = append(homes, home, filepath.Join(home, "libexec"))
	}
	unpacked, _ := filepath.Glob("/opt/*zookeeper*")
	return append(append(homes, unpacked...), "/opt/homebrew/opt/zookeeper/libexec", "/usr/local/opt/zookeeper/libexec")
}

// zookeeperJars returns a release's jars, the server's own first; nil if home has
// none. Up to 3.4 the server's jar is beside lib, later in it.
func zookeeperJars(home string) []string {
	if home == "" {
		return nil
	}
	for _, folder := range []string{home, filepath.Join(home, "lib")} {
		own, _ := filepath.Glob(filepath.Join(folder, "zookeeper-[0-9]*.jar"))
		if len(own) == 0 {
			continue
		}
		return append(own[:1], filepath.Join(home, "*"), filepath.Join(home, "lib", "*")) // Java expands them
	}
	return nil
}

// debianJars returns the jars that the server loads from Debian's folder of all
// Java libraries; nil if the server's own is missing.
func debianJars(folder string) []string {
	own := filepath.Join(folder, "zookeeper.jar")
	if !isFile(own) {
		return nil
	}
	jars := []string{own}
	for _, name := range []string{"zookeeper-jute", "slf4j-api", "slf4j-simple", "netty-common", "netty-buffer",
		"netty-transport", "netty-handler", "commons-cli", "commons-io", "metrics-core", "snappy-java"} {
		if jar := filepath.Join(folder, name+".jar"); isFile(jar) {
			jars = append(jars, jar)
		}
	}
	return jars
}
