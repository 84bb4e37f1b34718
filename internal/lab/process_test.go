package lab

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"seckill/internal/backend"
)

// A caller of Add waits for another caller's start only until its own context ends. After a failed start, no server is
// left, and the next start succeeds.
func TestAStartThatFails(t *testing.T) {
	l := empty(t)
	begun, goOn := make(chan struct{}), make(chan struct{})
	l.topology = map[string]startFunc{backend.NameRedis: func(l *Lab, ctx context.Context, k kind, program Program) (*Ensemble, error) {
		_, err := k.start(ctx, program, 2)
		close(begun)
		<-goOn
		return nil, errors.Join(err, errors.New("they elect no leader"))
	}}
	failed := make(chan error, 1)
	go func() { failed <- l.Add(t.Context(), backend.NameRedis) }()
	<-begun
	gone, leave := context.WithCancel(t.Context())
	leave()
	if err := l.Add(gone, backend.NameEtcd); !errors.Is(err, context.Canceled) {
		t.Errorf("a caller that has gone: %v, want %v", err, context.Canceled)
	}
	servers := l.Processes()
	close(goOn)
	if err := <-failed; err == nil || !strings.Contains(err.Error(), "they elect no leader") || len(servers) != 2 {
		t.Errorf("%d servers were started, and then: %v", len(servers), err)
	}
	for _, p := range servers {
		if p.Alive() {
			t.Errorf("%s is left", p.Name)
		}
	}
	l.topology = nil
	if err := l.Add(t.Context(), backend.NameRedis); err != nil || len(l.Processes()) != 1 || !l.Backends()[0].OK {
		t.Errorf("the next start: %v, %+v", err, l.Backends())
	}
}

// A lab chooses no port that the system may give to outgoing connections. Otherwise, a client that dials a stopped
// server could connect to itself. A lab also chooses no port of another lab.
func TestPortsOfALab(t *testing.T) {
	seen := map[int]bool{}
	for range 2 {
		l := empty(t)
		many, err := l.freePorts(300)
		check(t, err)
		for _, port := range many {
			if port < 1024 || port >= 32768 || seen[port] {
				t.Fatalf("port %d: want one below 32768 that neither lab has yet", port)
			}
			seen[port] = true
		}
	}
}

// empty returns a lab without servers.
func empty(t *testing.T) *Lab {
	t.Helper()
	folder, err := os.MkdirTemp("", "lab") // the path of a socket must be short, and t.TempDir is long
	check(t, err)
	t.Cleanup(func() { os.RemoveAll(folder) })
	l, err := Start(t.Context(), Options{Host: Host{Temp: folder}, Backends: []string{}})
	check(t, err)
	t.Cleanup(func() { l.Stop(context.Background()) })
	return l
}

// check ends a test if err is not nil. This package cannot use labtest.Must, because labtest imports it.
func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// The keeper kills only processes that have not ended. The process id of an ended process may
// already belong to another program.
func TestKeeperKillsWhatIsLeft(t *testing.T) {
	folder := t.TempDir()
	c, err := newChildren(folder, os.Environ())
	check(t, err)
	var all [4]*exec.Cmd
	for i := range all {
		all[i] = exec.Command("sleep", "60")
		check(t, all[i].Start())
		fmt.Fprintln(c.tell, "began", all[i].Process.Pid)
	}
	fmt.Fprintln(c.tell, "ended", all[1].Process.Pid)
	fmt.Fprintln(c.tell, "ended", all[3].Process.Pid)
	c.dismissKeeper()
	for i, want := range []syscall.Signal{syscall.SIGKILL, syscall.SIGTERM, syscall.SIGKILL, syscall.SIGTERM} {
		_ = all[i].Process.Signal(syscall.SIGTERM) // this has no effect on the processes that the keeper has killed
		_ = all[i].Wait()
		if how := all[i].ProcessState.Sys().(syscall.WaitStatus); how.Signal() != want {
			t.Errorf("process %d ended by %v, want %v", i+1, how.Signal(), want)
		}
	}
	if _, err := os.Stat(folder); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the folder is left: %v", err)
	}
}

// Bytes that were held back arrive later, or are lost when their connection is closed. HeldBytes counts only such
// bytes.
func TestRelay(t *testing.T) {
	echo, err := net.Listen("tcp", "127.0.0.1:0")
	check(t, err)
	defer echo.Close()
	told := make(chan string, 9) // the texts that the server receives
	go func() {
		c, err := echo.Accept()
		for buffer := make([]byte, 100); err == nil; {
			var n int
			if n, err = c.Read(buffer); n > 0 {
				told <- string(buffer[:n])
				_, err = c.Write(buffer[:n])
			}
		}
	}()
	r, err := ListenRelay()
	check(t, err)
	defer r.Close()
	r.PointTo(echo.Addr().String())
	c, err := net.Dial("tcp", r.Addr())
	check(t, err)
	defer c.Close()
	check(t, c.SetDeadline(time.Now().Add(20*time.Second)))
	hear := func() string {
		buffer := make([]byte, 100)
		n, err := c.Read(buffer)
		if n == 0 && !errors.Is(err, io.EOF) {
			t.Fatal(err)
		}
		return string(buffer[:n]) // this is "" if the connection has ended
	}
	say := func(text string) {
		t.Helper()
		_, err := io.WriteString(c, text)
		check(t, err)
	}
	heldBack := func() {
		for begun := time.Now(); time.Since(begun) < 20*time.Second; time.Sleep(time.Millisecond) {
			r.mu.Lock()
			n := r.held
			r.mu.Unlock()
			if n > 0 {
				return
			}
		}
		t.Fatal("nothing was held back")
	}

	r.Hold(Requests, Replies)
	r.Release()
	if n := r.HeldBytes(); n != 0 {
		t.Errorf("%d bytes were held back before any was sent", n)
	}
	r.Hold(Requests, Replies)
	say("now")
	heldBack()
	if len(told) > 0 {
		t.Errorf("behind a partition the server was told %q", <-told)
	}
	r.Release()
	if n, got := r.HeldBytes(), hear(); n != 3 || got != "now" || <-told != "now" {
		t.Errorf("%d bytes were held back, and %q arrives afterwards", n, got)
	}
	r.Hold(Replies)
	say("do")
	if did := <-told; did != "do" {
		t.Errorf("the server was told %q", did)
	}
	heldBack()
	r.CloseConnections()
	if n, got := r.HeldBytes(), hear(); n != 2 || got != "" {
		t.Errorf("%d bytes were held back, and the client hears %q: want two that are lost", n, got)
	}
}
