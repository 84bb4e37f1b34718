//go:build unix

package main

import (
	"bufio"
	"bytes"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"seckill/internal/backend"
	"seckill/internal/lab/labtest"
)

// A terminal that closes (SIGHUP) ends the lab with all it started; under
// nohup, which ignores that signal, the lab and its services go on, and
// SIGTERM ends them in order.
func TestUpWhenTheTerminalCloses(t *testing.T) {
	dsn := labtest.Start(t, backend.SQL).Config().MySQLDSN
	for what, c := range map[string]struct {
		before string
		goesOn bool
	}{
		"at a terminal": {"", false},
		"under nohup":   {"trap '' HUP; ", true},
	} {
		t.Run(what, func(t *testing.T) { // one after the other: two labs would reset one database
			folder := t.TempDir()
			up := exec.Command("sh", "-c", c.before+`exec "$0" "$@"`, os.Args[0],
				"up", "--embedded", "--mysql-dsn="+dsn, "--addr=127.0.0.1:0", "--services=1", "--history=", "--folder="+folder)
			up.Env = append(os.Environ(), "SECKILL_STATE="+t.TempDir())
			var said bytes.Buffer
			up.Stderr = &said
			up.SysProcAttr = labtest.Together()
			out, err := up.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := up.Start(); err != nil {
				t.Fatal(err)
			}
			late := time.AfterFunc(patience, func() { _ = up.Process.Kill() })
			defer late.Stop()
			page := ""
			for lines := bufio.NewScanner(out); page == "" && lines.Scan(); {
				if text, ok := strings.CutPrefix(lines.Text(), "Page: "); ok {
					page = strings.Fields(text)[0]
				}
			}
			if err := up.Process.Signal(syscall.SIGHUP); err != nil {
				t.Fatal(err)
			}
			if c.goesOn {
				answer, err := http.Get(page + "api/v1/strategies") // the service answers
				if err != nil || answer.StatusCode != http.StatusOK {
					t.Errorf("after SIGHUP the lab answers %+v %v", answer, err)
				}
				if err == nil {
					answer.Body.Close()
				}
				_ = up.Process.Signal(syscall.SIGTERM)
			}
			err = up.Wait()
			hungUp := up.ProcessState.Sys().(syscall.WaitStatus).Signal() == syscall.SIGHUP
			orderly := err == nil && strings.Contains(said.String(), "nothing is left behind")
			if orderly != c.goesOn || hungUp == c.goesOn {
				t.Errorf("it ended with %v and said:\n%s", err, &said)
			}
			for end := time.Now().Add(patience); ; time.Sleep(10 * time.Millisecond) {
				left, err := os.ReadDir(folder)
				if err == nil && len(left) == 0 {
					break
				}
				if time.Now().After(end) {
					t.Fatalf("%v is left behind (%v)", left, err)
				}
			}
		})
	}
}
