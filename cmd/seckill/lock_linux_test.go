package main

import (
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// Ctrl-Z stops the command and us, fg lets both go on, and the command reads
// the terminal; Ctrl-C ends it.
func TestLockAtATerminal(t *testing.T) {
	pty, tty := openPTY(t)
	key := "test:" + t.Name()
	shell := exec.Command("sh", "-i")
	shell.Env = append(append(os.Environ(), onRedis(t)...), "PS1=ready> ", "SECKILL="+os.Args[0], "ENV=")
	shell.Stdin, shell.Stdout, shell.Stderr = tty, tty, tty
	shell.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := shell.Start(); err != nil {
		t.Fatal(err)
	}
	tty.Close()
	t.Cleanup(func() {
		shell.Process.Kill()
		shell.Wait()
		pty.Close()
	})
	shown := make(chan string, 1024)
	go func() {
		b := make([]byte, 4096)
		for {
			n, err := pty.Read(b)
			if err != nil {
				close(shown)
				return
			}
			shown <- string(b[:n])
		}
	}()
	all := ""
	see := func(want string) {
		t.Helper()
		for late := time.After(patience); ; {
			if i := strings.Index(all, want); i >= 0 {
				all = all[i+len(want):]
				return
			}
			select {
			case s, open := <-shown:
				if !open {
					t.Fatalf("the terminal is gone; it did not show %q but %q", want, all)
				}
				all += s
			case <-late:
				t.Fatalf("the terminal does not show %q but %q", want, all)
			}
		}
	}
	typed := func(s string) {
		t.Helper()
		if _, err := io.WriteString(pty, s); err != nil {
			t.Fatal(err)
		}
	}
	see("ready> ")
	typed(`"$SECKILL" lock redsync ` + key + ` -- sh -c 'echo i''n; read a; echo "got <$a>"; read b; echo "got <$b>"; exec sleep 100'` + "\n")
	see("in\r\n")
	typed("one\n")
	see("got <one>") // it was lent the terminal
	typed("\x1a")    // Ctrl-Z
	see("ready> ")
	typed("fg\n")
	see("lock redsync")
	typed("two\n")
	see("got <two>")
	typed("\x03") // Ctrl-C
	see("ready> ")
	typed("echo status=$?\n")
	see("status=130")
	typed("\"$SECKILL\" lock -n redsync " + key + " -- true; echo status=$?\n")
	see("status=0\r\n")
}

func openPTY(t *testing.T) (pty, tty *os.File) {
	pty, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	var n int
	for _, step := range []func() error{
		func() error { return unix.IoctlSetPointerInt(int(pty.Fd()), unix.TIOCSPTLCK, 0) },
		func() (err error) { n, err = unix.IoctlGetInt(int(pty.Fd()), unix.TIOCGPTN); return err },
		func() (err error) {
			tty, err = os.OpenFile("/dev/pts/"+strconv.Itoa(n), os.O_RDWR|syscall.O_NOCTTY, 0)
			return err
		},
	} {
		if err := step(); err != nil {
			t.Fatal(err)
		}
	}
	return pty, tty
}
