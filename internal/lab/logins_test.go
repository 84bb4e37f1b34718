package lab_test

import (
	"bytes"
	"database/sql"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/redis/go-redis/v9"

	"seckill/internal/lab/labtest"
	"seckill/internal/sqlerr"
)

func mysqlAt(t *testing.T, dsn string) *sql.DB {
	t.Helper()
	db := labtest.Value(sql.Open("mysql", dsn)).Must(t)
	t.Cleanup(func() { db.Close() })
	return db
}

// Another user of this machine can connect to 127.0.0.1, but not log in.
func TestPrivateMySQLLetsNoStrangerIn(t *testing.T) {
	l := privateLab(t)
	p := process(t, l, "mysql")
	for _, stranger := range []string{"root", "", "seckill", "mysql"} {
		err := mysqlAt(t, stranger+"@tcp("+p.Addr+")/").Ping()
		if n := sqlerr.Number(err); n != 1045 && n != 1698 && n != 3118 && n != 4151 {
			t.Errorf("%q came in: %v", stranger, err)
		}
	}
	db := mysqlAt(t, strings.TrimSuffix(p.Login(), "seckill")) // log in without a database: none exists yet
	for _, want := range []string{
		"CREATE DATABASE IF NOT EXISTS seckill", "CREATE DATABASE seckill_other",
		"CREATE TABLE seckill_other.t (a INT)", "CREATE PROCEDURE seckill.p() SELECT 1",
		"SELECT * FROM information_schema.PROCESSLIST", "SHOW ENGINE INNODB STATUS", "DROP PROCEDURE seckill.p",
		"DROP DATABASE seckill_other",
	} {
		labtest.Value(db.Exec(want)).Check(t, nil, "%s", want)
	}
	folder := t.TempDir()
	labtest.Must(t, os.Chmod(folder, 0o777))
	for _, forbidden := range []string{
		fmt.Sprintf("SELECT 'x' INTO OUTFILE '%s/written'", folder),
		"SET GLOBAL general_log_file = '" + folder + "/written'",
		"GRANT FILE ON *.* TO CURRENT_USER()",
		"CREATE DATABASE other",
		"UPDATE mysql.user SET User = 'x'",
	} {
		labtest.Value(db.Exec(forbidden)).Fails(t, "", "%s", forbidden)
	}
	var own sql.NullString
	if err := db.QueryRow("SELECT LOAD_FILE(?)", filepath.Join(l.Folder(), "mysql.log")).Scan(&own); err == nil &&
		own.Valid {
		t.Error("the account may read files")
	}
	// The server's data and passwords survive a restart.
	labtest.Must(t, p.Restart(t.Context()))
	labtest.Must(t, mysqlAt(t, l.Config().MySQLDSN).Ping())
}

// Every Redis of a lab requires the password.
func TestPrivateRedisLetsNoStrangerIn(t *testing.T) {
	c := privateLab(t).Config()
	for _, address := range append(c.RedisAddrs, c.RedlockAddrs...) {
		o := redisOptions(t, address)
		friend := redis.NewClient(o)
		labtest.Must(t, friend.Ping(t.Context()).Err())
		for _, setting := range []string{"dir", "dbfilename"} {
			labtest.Fails(t, friend.ConfigSet(t.Context(), setting, "/tmp").Err(), "", "a client sets %s", setting)
		}
		friend.Close()
		stranger := redis.NewClient(&redis.Options{Addr: o.Addr})
		labtest.Fails(t, stranger.Ping(t.Context()).Err(), "NOAUTH", "a stranger at %s", o.Addr)
		stranger.Close()
	}
}

// A web page in a browser of this machine can send requests to 127.0.0.1. They have another origin, unless the page's
// own host name resolves to 127.0.0.1. No server answers such requests.
func TestServersServeNoWebPage(t *testing.T) {
	const page = "evil.example"
	client := http.Client{Timeout: 10 * time.Second}
	for _, p := range privateLab(t).Processes() {
		for _, to := range [][3]string{{"POST", "/v3/kv/range", p.Addr}, {"POST", "/v3/kv/range", page},
			{"GET", "/metrics", p.Addr}, {"GET", "/metrics", page}, {"GET", "/", page}, {"GET", "/commands", page}} {
			if strings.HasPrefix(p.Name, "service") { // here, services are only imitated; other tests ask real ones
				break
			}
			request, err := http.NewRequest(to[0], "http://"+p.Addr+to[1],
				strings.NewReader(`{"key":"AA==","range_end":"AA=="}`))
			labtest.Must(t, err)
			request.Host, request.Close = to[2], true
			request.Header.Set("Origin", "http://"+page)
			answer, err := client.Do(request)
			if err != nil {
				continue // the server does not speak HTTP
			}
			answer.Body.Close()
			// If this header is missing, the browser hides the answer from the page.
			allowed, served := answer.Header.Get("Access-Control-Allow-Origin"), answer.StatusCode == http.StatusOK
			if allowed != "" || served && (to[2] == page || to[0] == "POST") {
				t.Errorf("%s: %v: %s, for %q to read", p.Name, to, answer.Status, allowed)
			}
		}
	}
}

// No password is in an argument of a process, because every user of the machine can read arguments. No password is in a
// log, or in the results of Backends and Services, which the page shows.
func TestPasswordsAreNotShown(t *testing.T) {
	l := privateLab(t)
	db := labtest.Value(mysql.ParseDSN(l.Config().MySQLDSN)).Must(t)
	secrets := []string{db.Passwd, redisOptions(t, l.Config().RedisAddrs[0]).Password}
	for _, secret := range secrets {
		if len(secret) < 20 {
			t.Fatalf("the password has %d characters", len(secret))
		}
	}
	holds := func(text []byte) bool {
		return bytes.Contains(text, []byte(secrets[0])) || bytes.Contains(text, []byte(secrets[1]))
	}
	if said := fmt.Sprintf("%+v %+v", l.Backends(), l.Services()); holds([]byte(said)) {
		t.Errorf("shown: %s", said)
	}
	for _, p := range l.Processes() {
		if runtime.GOOS != "linux" {
			break // only Linux has /proc
		}
		args := labtest.Value(os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", p.PID()))).Must(t)
		if len(args) == 0 || holds(args) {
			t.Errorf("the arguments of %s: %q", p.Name, args)
		}
	}
	seen := 0
	labtest.Must(t, filepath.WalkDir(l.Folder(), func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() || strings.HasPrefix(path, filepath.Join(l.Folder(), "mysql")+"/") {
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil || !holds(text) {
			return nil
		}
		seen++
		info, err := d.Info()
		if err != nil || info.Mode().Perm() != 0o600 || strings.HasSuffix(path, ".log") {
			t.Errorf("%s (%v, %v) has a password", path, info.Mode(), err)
		}
		return nil
	}))
	if seen == 0 {
		t.Error("no file has a password: this test looks for the wrong thing")
	}
}

// A shell that has read the script of ClientsFile can start clients such as mysql without a password as an argument.
func TestClientsOfPeople(t *testing.T) {
	l := privateLab(t)
	file := labtest.Value(l.ClientsFile()).Must(t)
	info, err := os.Stat(file)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Fatalf("%s: %v, %v; want a file that only this user can read", file, info, err)
	}
	in := func(command string) string { // runs a command in a shell that has read the script
		shell := exec.CommandContext(t.Context(), "sh", "-c", ". "+file+" && "+command)
		shell.Env = []string{"PATH=" + os.Getenv("PATH")}
		said, err := shell.CombinedOutput()
		labtest.Check(t, err, nil, "%s: %s", command, said)
		return strings.TrimSpace(string(said))
	}
	for _, p := range l.Processes() {
		if strings.HasPrefix(p.Name, "red") {
			said := in("redis-cli -p " + p.Addr[strings.LastIndexByte(p.Addr, ':')+1:] + " PING")
			labtest.Same(t, said, "PONG", "%s answers redis-cli", p.Name)
		}
	}
	labtest.Must(t, mysqlAt(t, strings.TrimSuffix(in(`echo "$SECKILL_MYSQL_DSN"`), "seckill")).Ping())
	labtest.Same(t, in(`echo "$MYSQL_HOST:$MYSQL_TCP_PORT"`), process(t, l, "mysql").Addr, "MySQL's clients are led to")
}
