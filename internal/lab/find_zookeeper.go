package lab

import (
	"cmp"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

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

var jarNumber = regexp.MustCompile(`zookeeper-(\d+(?:\.\d+)+)\.jar$`)

// zookeeperJarVersion reads the version off the file names: starting Java to ask
// takes a second.
func zookeeperJarVersion(jar string) string {
	beside, _ := filepath.Glob(filepath.Join(filepath.Dir(jar), "zookeeper-[0-9]*.jar"))
	for _, name := range append([]string{jar}, beside...) {
		if number := jarNumber.FindStringSubmatch(name); number != nil {
			return "ZooKeeper " + number[1]
		}
	}
	return "ZooKeeper"
}
