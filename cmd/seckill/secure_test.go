package main

import (
	"fmt"
	"io"
	"net/http"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"github.com/go-sql-driver/mysql"
	"github.com/rogpeppe/go-internal/testscript"

	"seckill/internal/backend"
	"seckill/internal/lab/labtest"
)

// TestSecretsStayHidden runs testdata/secrets.
func TestSecretsStayHidden(t *testing.T) {
	runScripts(t, testscript.Params{Dir: "testdata/secrets", Cmds: map[string]scriptCommand{"apart": apart, "hidden": hidden}})
}

// apart gives the addresses of the servers of all tests, with their passwords, in the
// environment; $SECRETS has the passwords, and the variables with WRONG_ before
// their names the same addresses with another.
func apart(ts *testscript.TestScript, _ bool, _ []string) {
	config := labtest.Config(of(ts), backend.SQL, backend.Redis)
	dsn, err := mysql.ParseDSN(config.MySQLDSN)
	ts.Check(err)
	redis, err := backend.ParseRedis(config.RedisAddrs[0])
	ts.Check(err)
	if len(dsn.Passwd) < 8 || len(redis.Password) < 8 {
		ts.Fatalf("the servers have no passwords to look for")
	}
	const wrong = "hunter2"
	ts.Setenv("SECRETS", dsn.Passwd+" "+redis.Password+" "+wrong)
	ts.Setenv("SECKILL_MYSQL_DSN", dsn.FormatDSN())
	ts.Setenv("SECKILL_REDIS_ADDRS", redis.String())
	dsn.Passwd, redis.Password = wrong, wrong
	ts.Setenv("WRONG_MYSQL", dsn.FormatDSN())
	ts.Setenv("WRONG_REDIS", redis.String())
}

// hidden NAME URL... looks for the secrets, and the admin token, in what a
// process has written, in its arguments, and in what it answers.
func hidden(ts *testscript.TestScript, _ bool, args []string) {
	p := of(ts).processes[args[0]]
	shown := map[string]string{"stdout": written(p.out), "stderr": written(p.said)}
	if len(args) > 1 {
		arguments, err := exec.Command("ps", "-ww", "-o", "args=", "-p", strconv.Itoa(p.Process.Pid)).Output()
		ts.Check(err)
		if !strings.Contains(string(arguments), "serve") {
			ts.Fatalf("ps shows %q", arguments)
		}
		shown["ps"] = string(arguments)
	}
	for _, url := range args[1:] {
		request, err := http.NewRequest("GET", url, nil)
		ts.Check(err)
		request.Header.Set("Authorization", "Bearer "+ts.Getenv("BEARER"))
		answer, err := http.DefaultClient.Do(request)
		ts.Check(err)
		body, err := io.ReadAll(answer.Body)
		answer.Body.Close()
		ts.Check(err)
		shown[url] = fmt.Sprint(answer.Header, string(body))
	}
	for where, text := range shown {
		for _, secret := range append(strings.Fields(ts.Getenv("SECRETS")), ts.Getenv("BEARER")) {
			if strings.Contains(text, secret) {
				ts.Fatalf("%s shows the secret %s", where, secret)
			}
		}
	}
}
