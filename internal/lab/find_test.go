package lab

import (
	"os"
	"path/filepath"
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
	s := Search{folders: []string{"relative", first, second}}
	if path := s.Find(MariaDB).Path; path != filepath.Join(second, "mysqld") {
		t.Errorf("found %s, want mysqld", path)
	}
	if path := s.Find(Redis).Path; path != filepath.Join(second, "redis-server") {
		t.Errorf("found %s, want redis-server", path)
	}
	if p := s.Find(Etcd); p.Found() || !strings.Contains(p.Missing(), "seckill doctor") || p.ByHand == "" {
		t.Errorf("etcd: %+v, want it missing: it cannot be run", p)
	}
	touch(t, filepath.Join(first, "mariadbd"))
	if path := (Search{folders: []string{second, first}}).Find(MariaDB).Path; path != filepath.Join(first, "mariadbd") {
		t.Errorf("found %s, want mariadbd before mysqld", path)
	}
	if path := (Search{folders: []string{first}}).Find(Redis).Path; path != filepath.Join(first, "valkey-server") {
		t.Errorf("found %s, want valkey-server where there is no Redis", path)
	}
}

func TestZooKeeperHomes(t *testing.T) {
	bin := t.TempDir()
	touch(t, filepath.Join(bin, "java"))
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
		s := Search{folders: []string{bin, onPath}, zookeeper: home}
		if c.script != "" {
			s.zookeeper = ""
			touch(t, filepath.Join(home, c.script))
			if err := os.Symlink(filepath.Join(home, c.script), filepath.Join(onPath, filepath.Base(c.script))); err != nil {
				t.Fatal(err)
			}
		}
		p := s.Find(ZooKeeper)
		if !sameFile(p.Path, jar) {
			t.Errorf("%s: found %q, want %s", name, p.Path, jar)
		}
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
