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
	check(t, os.WriteFile(filepath.Join(first, "etcd"), nil, 0o644)) // this file is not executable
	s := Search{folders: []string{"relative", first, second}}
	for tool, want := range map[Tool]string{MariaDB: filepath.Join(second, "mysqld"),
		Redis: filepath.Join(second, "redis-server")} {
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
			continue // the PATH of every shell contains /usr/bin, so the script need not name it
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
		"named":      {"lib/zookeeper-3.9.2.jar", ""}, // ZOOKEEPER_HOME names the folder
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

// Oracle's MySQL gets options that MariaDB, which the other tests start, would reject. If the lab runs as root, MySQL
// needs one more option.
func TestMySQLArguments(t *testing.T) {
	m := mysqlServer{path: "/usr/sbin/mysqld", data: "/d", root: true}
	for _, c := range []struct {
		args      []string
		want, not string
	}{
		{m.bootstrapArgs(), "--no-defaults --datadir=/d --user=root --initialize-insecure", "--bootstrap"},
		{m.serveArgs(3333), "--no-defaults --datadir=/d --user=root --port=3333 --mysqlx=OFF --secure-file-priv=NULL",
			"--initialize-insecure"},
	} {
		for _, want := range strings.Fields(c.want) {
			if !slices.Contains(c.args, want) {
				t.Errorf("%v lacks %s", c.args, want)
			}
		}
		if said := strings.Join(c.args, " "); strings.Contains(said, c.not) || strings.Contains(said, "flush") ||
			strings.Contains(said, "sync") {
			t.Errorf("%v has %s, or changes how durable a commit is", c.args, c.not)
		}
	}
}

func TestMariaDBTables(t *testing.T) {
	for name, c := range map[string]struct{ server, share, brand string }{
		"Debian": {"sbin/mariadbd", "share/mysql", "mysql"},
		"11.x":   {"bin/mariadbd", "share/mariadb", "mariadb"},
		"binary": {"bin/mariadbd", "share", "mysql"},
	} {
		prefix := t.TempDir()
		for _, table := range []string{"system_tables", "performance_tables", "system_tables_data"} {
			touch(t, filepath.Join(prefix, c.share, c.brand+"_"+table+".sql"))
		}
		touch(t, filepath.Join(prefix, c.server))
		sql, err := mariadbTables(filepath.Join(prefix, c.server))
		if err != nil || !strings.Contains(sql, "auth_root_socket") {
			t.Errorf("%s: found %q, %v", name, sql, err)
		}
	}
	if _, err := mariadbTables(filepath.Join(t.TempDir(), "bin/mariadbd")); err == nil ||
		!strings.Contains(err.Error(), "install it again") {
		t.Errorf("no tables at all: %v, want what to do", err)
	}
}

func touch(t *testing.T, path string) {
	t.Helper()
	check(t, os.MkdirAll(filepath.Dir(path), 0o755))
	check(t, os.WriteFile(path, nil, 0o755))
}
