package lab

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// zookeeper finds Java and a ZooKeeper: a whole one, as it is unpacked or as
// Homebrew puts it, or Debian's jars. It takes both to be found.
func (s search) zookeeper() Program {
	p := Program{Name: "ZooKeeper", Get: getServers}
	p.Java, _ = s.java()
	jars := debianJars("/usr/share/java")
	for _, home := range s.zookeeperHomes() {
		if whole := zookeeperJars(home); whole != nil {
			jars = whole
			break
		}
	}
	p.Classpath = strings.Join(jars, string(os.PathListSeparator))
	switch {
	case jars == nil:
		p.missing = "ZooKeeper (zkServer.sh, zookeeper.jar, or a folder that ZOOKEEPER_HOME names)"
	case p.Java == "":
		p.missing = "Java, which ZooKeeper needs,"
	default:
		p.Path = jars[0]
	}
	return p
}

// java: macOS has a /usr/bin/java that only says that there is none.
func (s search) java() (path string, found bool) {
	first := search{filepath.Join(os.Getenv("JAVA_HOME"), "bin"),
		"/opt/homebrew/opt/openjdk/bin", "/usr/local/opt/openjdk/bin"}
	return append(first, s...).find("java")
}

func (s search) zookeeperHomes() []string {
	homes := []string{os.Getenv("ZOOKEEPER_HOME")}
	for _, script := range []string{"zkServer.sh", "zkServer"} {
		path, found := s.find(script)
		if !found {
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

// zookeeperJars: the server's own jar first. Releases up to 3.4 have it beside
// lib, later ones in it.
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

// debianJars: what the server loads of Debian's folder, which has every Java
// library of the system.
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

// zookeeperJarVersion reads it off the file names, which spares a Java.
func zookeeperJarVersion(jar string) string {
	beside, _ := filepath.Glob(filepath.Join(filepath.Dir(jar), "zookeeper-[0-9]*.jar"))
	for _, name := range append([]string{jar}, beside...) {
		if number := jarNumber.FindStringSubmatch(name); number != nil {
			return "ZooKeeper " + number[1]
		}
	}
	return "ZooKeeper"
}
