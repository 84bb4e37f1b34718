package lab

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

func TestSearch(t *testing.T) {
	first, second := t.TempDir(), t.TempDir()
	touch(t, filepath.Join(second, "mysqld"))
	touch(t, filepath.Join(second, "redis-server"))
	touch(t, filepath.Join(first, "valkey-server"))
	check(t, os.WriteFile(filepath.Join(first, "etcd"), nil, 0o644)) // not a program
	s := Search{folders: []string{"relative", first, second}}
	for tool, want := range map[Tool]string{MariaDB: filepath.Join(second, "mysqld"), Redis: filepath.Join(second, "redis-server")} {
		if path := s.Find(tool).Path; path != want {
			t.Errorf("found %s, want %s", path, want)
		}
	}
	if p := s.Find(Etcd); p.Found() || !strings.Contains(p.Missing(), "seckill doctor") || p.ByHand == "" {
		t.Errorf("etcd: %+v, want it missing: it cannot be run", p)
	}
	touch(t, filepath.Join(first, "mariadbd"))
	if path := (Search{folders: []string{second, first}}).Find(MariaDB).Path; path != filepath.Join(first, "mariadbd") {
		t.Errorf("found %s, want mariadbd before mysqld", path)
	}
}

// deps.sh looks for servers in the same places as the lab. Otherwise it would install an existing server again, or
// leave out a server that the lab does not find.
func TestTheScriptLooksInTheSamePlaces(t *testing.T) {
	script, err := os.ReadFile("../../deploy/deps.sh")
	check(t, err)
	for _, folder := range slices.Concat(extraFolders, javaFolders) {
		if folder == "/usr/bin" {
			continue // a shell has it on its PATH
		}
		if !regexp.MustCompile(`[: ]` + regexp.QuoteMeta(folder) + `[:;\s]`).Match(script) {
			t.Errorf("deploy/deps.sh does not look in %s", folder)
		}
	}
}

func TestZooKeeperHomes(t *testing.T) {
	for name, c := range map[string]struct{ jar, script string }{
		"a release":  {"lib/zookeeper-3.9.2.jar", "bin/zkServer.sh"},
		"Homebrew's": {"libexec/lib/zookeeper-3.9.2.jar", "bin/zkServer"},
		"named":      {"lib/zookeeper-3.9.2.jar", ""}, // by the environment
	} {
		home, onPath := t.TempDir(), t.TempDir()
		jar := filepath.Join(home, c.jar)
		touch(t, jar)
		touch(t, filepath.Join(filepath.Dir(jar), "zookeeper-jute-3.9.2.jar"))
		s := Search{folders: []string{onPath}, zookeeper: home}
		if c.script != "" {
			s.zookeeper = ""
			touch(t, filepath.Join(home, c.script))
			check(t, os.Symlink(filepath.Join(home, c.script), filepath.Join(onPath, filepath.Base(c.script))))
		}
		if p := s.Find(ZooKeeper); p.Found() {
			t.Errorf("%s: found %q without Java", name, p.Path)
		}
		touch(t, filepath.Join(onPath, "java"))
		if p := s.Find(ZooKeeper); filepath.Base(p.Path) != filepath.Base(jar) || !isFile(p.Path) {
			t.Errorf("%s: found %q, want %s", name, p.Path, jar)
		}
	}
}
