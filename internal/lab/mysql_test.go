package lab

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestMySQLArguments(t *testing.T) {
	for _, c := range []struct {
		name             string
		server           mysqlServer
		bootstrap, serve string // what must be there
		not              string // what the server would not understand, or must not get
	}{
		{"MariaDB", mysqlServer{path: "/usr/sbin/mariadbd", data: "/d", mariadb: true},
			"--no-defaults --datadir=/d --bootstrap",
			"--no-defaults --datadir=/d --port=3333 --bind-address=127.0.0.1 --max-connections=2024 --skip-name-resolve --secure-file-priv=/d-files",
			"--initialize-insecure --mysqlx=OFF --user=root"},
		{"MySQL", mysqlServer{path: "/usr/sbin/mysqld", data: "/d"},
			"--no-defaults --datadir=/d --initialize-insecure",
			"--no-defaults --datadir=/d --port=3333 --bind-address=127.0.0.1 --max-connections=2024 --mysqlx=OFF --skip-name-resolve --secure-file-priv=/d-files",
			"--bootstrap --user=root"},
		{"MySQL as root", mysqlServer{path: "/usr/sbin/mysqld", data: "/d", root: true},
			"--user=root --initialize-insecure", "--user=root --mysqlx=OFF", "--bootstrap"},
	} {
		for what, pair := range map[string]struct {
			args []string
			want string
		}{
			"bootstrap": {c.server.bootstrapArgs(), c.bootstrap},
			"serve":     {c.server.serveArgs(3333), c.serve},
		} {
			if pair.args[0] != c.server.path || pair.args[1] != "--no-defaults" {
				t.Errorf("%s, %s: %v must begin with the program and --no-defaults", c.name, what, pair.args)
			}
			for _, want := range strings.Fields(pair.want) {
				if !slices.Contains(pair.args, want) {
					t.Errorf("%s, %s: %v lacks %s", c.name, what, pair.args, want)
				}
			}
			for _, not := range strings.Fields(c.not) {
				if slices.Contains(pair.args, not) {
					t.Errorf("%s, %s: %v has %s", c.name, what, pair.args, not)
				}
			}
			for _, arg := range pair.args {
				if strings.Contains(arg, "flush") || strings.Contains(arg, "sync") {
					t.Errorf("%s, %s: %s changes how durable a commit is", c.name, what, arg)
				}
			}
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
		files, err := mariadbTables(filepath.Join(prefix, c.server))
		if err != nil || len(files) != 3 {
			t.Errorf("%s: found %v, %v, want three files", name, files, err)
		}
	}
	if _, err := mariadbTables(filepath.Join(t.TempDir(), "bin/mariadbd")); err == nil || !strings.Contains(err.Error(), "install it again") {
		t.Errorf("no tables at all: %v, want what to do", err)
	}
}

func touch(t *testing.T, path string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, nil, 0o755); err != nil {
		t.Fatal(err)
	}
}
