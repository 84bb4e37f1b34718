package lab

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Oracle's MySQL has options that MariaDB, which the other tests start, would reject. It runs as root only with an
// option.
func TestMySQLArguments(t *testing.T) {
	m := mysqlServer{path: "/usr/sbin/mysqld", data: "/d", root: true}
	for _, c := range []struct {
		args      []string
		want, not string
	}{
		{m.bootstrapArgs(), "--no-defaults --datadir=/d --user=root --initialize-insecure", "--bootstrap"},
		{m.serveArgs(3333), "--no-defaults --datadir=/d --user=root --port=3333 --mysqlx=OFF --secure-file-priv=NULL", "--initialize-insecure"},
	} {
		for _, want := range strings.Fields(c.want) {
			if !slices.Contains(c.args, want) {
				t.Errorf("%v lacks %s", c.args, want)
			}
		}
		if said := strings.Join(c.args, " "); strings.Contains(said, c.not) || strings.Contains(said, "flush") || strings.Contains(said, "sync") {
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
	if _, err := mariadbTables(filepath.Join(t.TempDir(), "bin/mariadbd")); err == nil || !strings.Contains(err.Error(), "install it again") {
		t.Errorf("no tables at all: %v, want what to do", err)
	}
}

func touch(t *testing.T, path string) {
	t.Helper()
	check(t, os.MkdirAll(filepath.Dir(path), 0o755))
	check(t, os.WriteFile(path, nil, 0o755))
}
