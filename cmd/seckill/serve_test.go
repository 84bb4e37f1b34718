package main

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Whatever is wrong with a service's flags, backends or port is one line that
// says what to do, and an exit status.
func TestServeSaysWhatIsWrong(t *testing.T) {
	busy, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer busy.Close()
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	nobody := closed.Addr().String()
	closed.Close()
	folder := t.TempDir()
	notAFolder := filepath.Join(folder, "file")
	if err := os.WriteFile(notAFolder, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	readable := filepath.Join(folder, "readable")
	if err := os.WriteFile(readable, []byte("s3cret"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(readable, 0o644); err != nil { // whatever the umask
		t.Fatal(err)
	}
	sqlite := "--sqlite-path=" + filepath.Join(folder, "ledger.db")
	const anyPort = "--addr=127.0.0.1:0"
	for _, c := range []struct {
		what   string
		args   []string
		status int
		want   string
	}{
		{"no database", []string{anyPort}, 2, "give --mysql-dsn"},
		{"an unknown flag", []string{sqlite, "--prot=1"}, 2, "unknown flag --prot"},
		{"a port that is no number", []string{sqlite, "--addr=127.0.0.1:http!"}, 2, "no address to listen on"},
		{"an address without a port", []string{sqlite, "--addr=127.0.0.1"}, 2, "no address to listen on"},
		{"an admin listener that is open to the network", []string{sqlite, "--admin-addr=0.0.0.0:0"}, 2, "can be reached from other machines"},
		{"an admin listener, no host", []string{sqlite, "--admin-addr=:0"}, 2, "can be reached from other machines"},
		{"an admin listener without a path", []string{sqlite, "--admin-addr=unix:"}, 2, "needs a path"},
		{"an admin listener in no folder", []string{sqlite, anyPort, "--admin-addr=unix:" + folder + "/no/a"}, 1, "--admin-addr"},
		{"a busy admin listener", []string{sqlite, anyPort, "--admin-addr=" + busy.Addr().String()}, 1, "give another --admin-addr"},
		{"two tokens", []string{sqlite, "--token=a", "--token-file=" + notAFolder}, 2, "give one of them"},
		{"a file without a token", []string{sqlite, anyPort, "--token-file=" + notAFolder}, 1, "there is no token in"},
		{"a token that everybody can read", []string{sqlite, anyPort, "--token-file=" + readable}, 1, "run chmod 600"},
		{"a token file in no folder", []string{sqlite, anyPort, "--token-file=" + folder + "/no/token"}, 1, "--token-file"},
		{"a secret that everybody can read", []string{sqlite, anyPort, "--auth-secret=" + readable}, 1, "run chmod 600"},
		{"a secret that is not there", []string{sqlite, anyPort, "--auth-secret=" + folder + "/no"}, 1, "--auth-secret: open"},
		{"a short secret", []string{sqlite, anyPort, "--auth-secret=" + notAFolder}, 1, "give at least 32"},
		{"keys by plain HTTP", []string{sqlite, "--auth-jwks=http://login.example/keys"}, 2, "must be an https:// URL"},
		{"a secret and keys", []string{sqlite, "--auth-secret=x", "--auth-jwks=https://login.example/keys"}, 2, "give one of them"},
		{"tokens for anybody", []string{sqlite, "--auth-audience="}, 2, "--auth-audience must not be empty"},
		{"a token that no header can carry", []string{sqlite, "--token=a b"}, 2, "visible ASCII"},
		{"no patience", []string{sqlite, "--lock-wait=0s"}, 2, "--lock-wait must be 1ms or longer"},
		{"a duration without a unit", []string{sqlite, "--lock-wait=3"}, 2, "--lock-wait"},
		{"negative retries", []string{sqlite, "--retries=-1"}, 2, "--retries must be 0 or more"},
		{"no connections", []string{sqlite, "--mysql-conns=0"}, 2, "at least 1"},
		{"an unknown log format", []string{sqlite, "--log-format=xml"}, 2, "--log-format"},
		{"an unknown log level", []string{sqlite, "--log-level=loud"}, 2, "--log-level"},
		{"an unknown backend's tier", []string{sqlite, "--tiers=oracle=given"}, 2, "BACKEND=TIER"},
		{"an unknown tier", []string{sqlite, "--tiers=mysql=borrowed"}, 2, "BACKEND=TIER"},
		{"two databases", []string{anyPort, sqlite, "--mysql-dsn=root@tcp(" + nobody + ")/x"}, 1, "give one of them"},
		{"a busy port", []string{sqlite, "--addr=" + busy.Addr().String()}, 1, "is in use"},
		{"an address of another machine", []string{sqlite, "--addr=192.0.2.1:0", "--token=x"}, 1, "cannot listen on --addr 192.0.2.1:0"},
		{"an unreachable MySQL", []string{anyPort, "--mysql-dsn=root:hunter2@tcp(" + nobody + ")/x"}, 1, "is it running"},
		{"a MySQL address of another form", []string{anyPort, "--mysql-dsn=mysql://root:hunter2@" + nobody + "/x"}, 1, "user:password@tcp(host:port)/database"},
		{"an unreachable Redis", []string{anyPort, sqlite, "--redis-addrs=" + nobody}, 1, "redis at " + nobody},
		{"an unreachable Redis node", []string{anyPort, sqlite, "--redlock-addrs=" + nobody}, 1, "redlock at " + nobody},
		{"an unreachable ZooKeeper", []string{anyPort, sqlite, "--zookeeper-addrs=" + nobody}, 1, "zookeeper at " + nobody},
		{"an unreachable etcd", []string{anyPort, sqlite, "--etcd-endpoints=" + nobody}, 1, "etcd at " + nobody},
		{"a folder that cannot be", []string{anyPort, "--sqlite-path=" + notAFolder + "/ledger.db"}, 1, notAFolder},
		{"an unknown strategy", []string{anyPort, sqlite, "--strategy=luck"}, 2, `no strategy "luck"; seckill strategies lists them`},
		{"a strategy without its backend", []string{anyPort, sqlite, "--strategy=redsync"}, 1, "no Redis is configured"},
	} {
		t.Run(c.what, func(t *testing.T) {
			var out bytes.Buffer
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			status := run(ctx, func() {}, append([]string{"serve"}, c.args...), io.Discard, &out)
			said := out.String()
			if status != c.status || !strings.Contains(said, c.want) {
				t.Errorf("seckill serve %v: status %d, want %d with %q:\n%s", c.args, status, c.status, c.want, said)
			}
			if strings.Contains(said, "hunter2") || strings.Contains(said, "goroutine ") {
				t.Errorf("seckill serve %v says too much:\n%s", c.args, said)
			}
			if line := strings.TrimSpace(said); c.status == 1 && strings.Contains(line, "\n") {
				t.Errorf("seckill serve %v: more than one line:\n%s", c.args, line)
			}
		})
	}
}

func TestServeFromTheEnvironment(t *testing.T) {
	t.Setenv("SECKILL_ADDR", "127.0.0.1:0")
	t.Setenv("SECKILL_SQLITE_PATH", filepath.Join(t.TempDir(), "ledger.db"))
	t.Setenv("SECKILL_STRATEGY", "version")
	t.Setenv("SECKILL_TIERS", "mysql=private,redis=given")
	t.Setenv("SECKILL_REDIS_ADDRS", "")
	t.Setenv("SECKILL_LOG_FORMAT", "json")
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	read, write := io.Pipe()
	ended := make(chan int, 1)
	go func() {
		ended <- run(ctx, func() {}, []string{"serve"}, io.Discard, write)
		write.Close()
	}()
	lines := bufio.NewScanner(read)
	for lines.Scan() {
		_, rest, serving := strings.Cut(lines.Text(), `"address":"`)
		if !serving {
			t.Log(lines.Text())
			continue
		}
		go io.Copy(io.Discard, read)
		url, _, _ := strings.Cut(rest, `"`)
		resp, err := http.Get(url + "/readyz")
		if err != nil {
			t.Fatal(err)
		}
		body, _ := io.ReadAll(resp.Body)
		resp.Body.Close()
		if want := `"strategy":"version","backends":[{"name":"mysql","tier":"private",`; resp.StatusCode != 200 || !strings.Contains(string(body), want) {
			t.Errorf("/readyz says %d %s, want %s in it", resp.StatusCode, body, want)
		}
		stop()
		if status := <-ended; status != 0 {
			t.Errorf("exit status %d after it was stopped, want 0", status)
		}
		return
	}
	t.Fatal("it ended before it served")
}
