package main

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// serving starts `seckill serve` in this process and returns what it logs
// until it serves, as text, and how it is stopped.
func serving(t *testing.T, args ...string) (said string, stop func() int) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	read, write := io.Pipe()
	ended := make(chan int, 1)
	go func() {
		ended <- run(ctx, func() {}, append([]string{"serve", "--addr=127.0.0.1:0",
			"--sqlite-path=" + filepath.Join(t.TempDir(), "ledger.db")}, args...), io.Discard, write)
		write.Close()
	}()
	stop = func() int {
		cancel()
		return <-ended
	}
	lines := bufio.NewScanner(read)
	for lines.Scan() {
		said += lines.Text() + "\n"
		if strings.Contains(lines.Text(), "msg=serving") {
			go io.Copy(io.Discard, read)
			return said, stop
		}
	}
	t.Fatalf("seckill serve %v ended with %d before it served: %s", args, stop(), said)
	return "", nil
}

func found(t *testing.T, text, pattern string) string {
	t.Helper()
	m := regexp.MustCompile(pattern).FindStringSubmatch(text)
	if m == nil {
		t.Fatalf("no %s in\n%s", pattern, text)
	}
	return m[1]
}

func reset(t *testing.T, url, token string) (status int) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), "PUT", url+"/api/v1/skus/1", strings.NewReader(`{"stock":1}`))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/json")
	if token != "" {
		request.Header.Set("Authorization", "Bearer "+token)
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	answer.Body.Close()
	return answer.StatusCode
}

// A service without a token makes one: in a file that its log names, for its
// user alone, and gone with it. The token itself is not in the log.
func TestServeMakesAToken(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	said, stop := serving(t, "--admin-addr=127.0.0.1:0")
	public, file := found(t, said, `msg=serving address=(http://[^ \n]+)`), found(t, said, `file=([^ \n]+)`)
	admin := found(t, said, `msg="admin calls without a token" address=(http://[^ \n]+)`)
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	token := strings.TrimSpace(string(text))
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 || len(token) < 20 {
		t.Errorf("%s: %v %v, %d characters; want mode 0600 and 20 or more", file, info, err, len(token))
	}
	if strings.Contains(said, token) {
		t.Errorf("the token is in the log:\n%s", said)
	}
	for _, c := range []struct {
		what, url, token string
		want             int
	}{
		{"without the token", public, "", 403},
		{"with another", public, token + "x", 403},
		{"with the token", public, token, 200},
		{"on the admin listener", admin, "", 200},
	} {
		if got := reset(t, c.url, c.token); got != c.want {
			t.Errorf("a reset %s: %d, want %d", c.what, got, c.want)
		}
	}
	if status := stop(); status != 0 {
		t.Errorf("exit status %d", status)
	}
	if left, err := os.ReadDir(os.Getenv("TMPDIR")); err != nil || len(left) > 0 {
		t.Errorf("it leaves %v behind (%v)", left, err)
	}
}

// Services that are given one file have one token, which stays.
func TestServicesShareATokenFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "token")
	said, stop := serving(t, "--token-file="+file)
	again, stopAgain := serving(t, "--token-file="+file)
	token, err := readToken(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, said := range []string{said, again} {
		if got := reset(t, found(t, said, `msg=serving address=(http://[^ \n]+)`), token); got != 200 {
			t.Errorf("a reset with the token of %s: %d", file, got)
		}
	}
	if a, b := stop(), stopAgain(); a != 0 || b != 0 {
		t.Errorf("exit status %d and %d", a, b)
	}
	if still, err := readToken(file); still != token {
		t.Errorf("the file does not stay: %q %v", still, err)
	}
}
