package lab

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

func TestSearch(t *testing.T) {
	first, second := t.TempDir(), t.TempDir()
	touch(t, filepath.Join(second, "mysqld"))
	touch(t, filepath.Join(second, "redis-server"))
	touch(t, filepath.Join(first, "valkey-server"))
	if err := os.WriteFile(filepath.Join(first, "etcd"), nil, 0o644); err != nil { // not a program
		t.Fatal(err)
	}
	p := search{"relative", first, second}.programs()
	if p.MySQL.Path != filepath.Join(second, "mysqld") || p.Redis.Path != filepath.Join(second, "redis-server") {
		t.Errorf("found %s and %s, want mysqld and redis-server", p.MySQL.Path, p.Redis.Path)
	}
	if p.Etcd.Found() || !strings.Contains(p.Etcd.Missing(), "seckill deps") {
		t.Errorf("etcd: %+v, want it missing: it cannot be run", p.Etcd)
	}
	touch(t, filepath.Join(first, "mariadbd"))
	if p := (search{second, first}).programs(); p.MySQL.Path != filepath.Join(first, "mariadbd") {
		t.Errorf("found %s, want mariadbd before mysqld", p.MySQL.Path)
	}
	if p := (search{first}).programs(); p.Redis.Path != filepath.Join(first, "valkey-server") {
		t.Errorf("found %s, want valkey-server where there is no Redis", p.Redis.Path)
	}
}

func TestZooKeeperHomes(t *testing.T) {
	bin := t.TempDir()
	touch(t, filepath.Join(bin, "java"))
	t.Setenv("JAVA_HOME", "")
	for name, c := range map[string]struct{ jar, script string }{
		"a release":  {"lib/zookeeper-3.9.2.jar", "bin/zkServer.sh"},
		"an old one": {"zookeeper-3.4.14.jar", "bin/zkServer.sh"},
		"Homebrew's": {"libexec/lib/zookeeper-3.9.2.jar", "bin/zkServer"},
		"named":      {"lib/zookeeper-3.9.2.jar", ""}, // by the environment
	} {
		home, onPath := t.TempDir(), t.TempDir()
		jar := filepath.Join(home, c.jar)
		touch(t, jar)
		touch(t, filepath.Join(filepath.Dir(jar), "zookeeper-jute-3.9.2.jar"))
		t.Setenv("ZOOKEEPER_HOME", home)
		if c.script != "" {
			t.Setenv("ZOOKEEPER_HOME", "")
			touch(t, filepath.Join(home, c.script))
			if err := os.Symlink(filepath.Join(home, c.script), filepath.Join(onPath, filepath.Base(c.script))); err != nil {
				t.Fatal(err)
			}
		}
		p := search{bin, onPath}.zookeeper()
		if !sameFile(p.Path, jar) {
			t.Errorf("%s: found %q, want %s", name, p.Path, jar)
			continue
		}
		if version, err := p.Version(t.Context()); err != nil || !strings.HasPrefix(version, "ZooKeeper 3.") {
			t.Errorf("%s: version %q, %v", name, version, err)
		}
	}
}

func TestZooKeeperTakesJava(t *testing.T) {
	home := t.TempDir()
	touch(t, filepath.Join(home, "lib", "zookeeper-3.9.2.jar"))
	t.Setenv("ZOOKEEPER_HOME", home)
	t.Setenv("JAVA_HOME", t.TempDir())
	if runtime.GOOS == "darwin" {
		t.Log("a Homebrew Java may be here")
		return
	}
	p := search{t.TempDir()}.programs()
	if p.ZooKeeper.Found() || !strings.Contains(p.ZooKeeper.Missing(), "Java") {
		t.Errorf("%+v: want it missing for lack of Java", p.ZooKeeper)
	}
	if needs := p.Missing(); !slices.Contains(needs, NeedJava) || slices.Contains(needs, NeedZooKeeper) {
		t.Errorf("missing %v, want Java but not ZooKeeper among them", needs)
	}
}

func TestDebianJars(t *testing.T) {
	folder := t.TempDir()
	if jars := debianJars(folder); jars != nil {
		t.Errorf("found %v in an empty folder", jars)
	}
	for _, jar := range []string{"zookeeper.jar", "zookeeper-jute.jar", "slf4j-api.jar", "tomcat9.jar"} {
		touch(t, filepath.Join(folder, jar))
	}
	jars := debianJars(folder)
	if len(jars) != 3 || filepath.Base(jars[0]) != "zookeeper.jar" {
		t.Errorf("found %v, want ZooKeeper first, what it needs, and nothing else", jars)
	}
}

func TestVersionsOfRealPrograms(t *testing.T) {
	p := Find()
	for want, program := range map[string]Program{"": p.MySQL, "Redis ": p.Redis, "ZooKeeper ": p.ZooKeeper, "etcd ": p.Etcd} {
		version, err := program.Version(t.Context())
		if err != nil || !strings.HasPrefix(version, want) || !strings.Contains(version, ".") {
			t.Errorf("%s: version %q, %v", program.Path, version, err)
		}
	}
	if _, err := (Program{missing: "x"}).Version(t.Context()); err == nil {
		t.Error("what is missing has a version")
	}
}
