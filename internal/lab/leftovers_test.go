package lab_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"seckill/internal/backend"
	"seckill/internal/lab"
	"seckill/internal/lab/labtest"
)

// startVictim runs this test program as a program with a lab of these backends and two service processes.
func startVictim(t *testing.T, processes int, backends ...string) (*exec.Cmd, victim) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), victimEnv+"="+labtest.HostIn(t).Temp, "SECKILL_TEST_BACKENDS="+strings.Join(backends, " "))
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	must(t, "stdout pipe", err)
	must(t, "start", cmd.Start())
	t.Cleanup(func() { cmd.Process.Kill() })
	var v victim
	if err := json.NewDecoder(out).Decode(&v); err != nil {
		t.Fatalf("the victim did not report: %v", err)
	}
	if len(v.PIDs) != processes {
		t.Fatalf("the victim reported %d processes, want %d", len(v.PIDs), processes)
	}
	return cmd, v
}

// gone waits until nothing is left of a lab. After a time limit it returns what is still left.
func (v victim) gone() error {
	var left []string
	for deadline := time.Now().Add(labtest.Patience); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		left = nil
		for _, pid := range v.PIDs {
			if processLives(pid) {
				left = append(left, fmt.Sprint("process ", pid))
			}
		}
		for _, addr := range v.Addrs {
			if c, err := net.Dial("tcp", addr); err == nil {
				c.Close()
				left = append(left, "port "+addr)
			}
		}
		if _, err := os.Stat(v.Folder); !errors.Is(err, fs.ErrNotExist) {
			left = append(left, "folder "+v.Folder)
		}
		if left == nil {
			return nil
		}
	}
	return fmt.Errorf("left behind: %s", strings.Join(left, ", "))
}

// processLives reports whether a process runs. A zombie does not run.
func processLives(pid int) bool {
	if syscall.Kill(pid, 0) != nil {
		return false
	}
	state, err := exec.Command("ps", "-o", "state=", "-p", fmt.Sprint(pid)).Output()
	return err == nil && !strings.HasPrefix(string(state), "Z")
}

func TestKill9OfTheParentLeavesNothing(t *testing.T) {
	cmd, v := startVictim(t, 7, backend.NameMySQL, backend.NameRedis, backend.NameZooKeeper, backend.NameEtcd)
	cmd.Process.Kill()
	cmd.Wait()
	if err := v.gone(); err != nil {
		t.Error(err)
	}
}

func TestCancelledStartLeavesNothing(t *testing.T) {
	for _, after := range []time.Duration{0, 50 * time.Millisecond, 150 * time.Millisecond, 400 * time.Millisecond} {
		host := labtest.HostIn(t)
		ctx, cancel := context.WithTimeout(t.Context(), after)
		l, err := lab.Start(ctx, lab.Options{Host: host})
		cancel()
		if err == nil {
			l.Stop(context.Background())
		} else if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("cancelled after %v: %v, want %v", after, err, context.DeadlineExceeded)
		}
		if out, _ := exec.Command("pgrep", "-f", host.Temp).Output(); len(out) > 0 {
			t.Errorf("cancelled after %v: processes are left: %s", after, out)
		}
		if left, _ := os.ReadDir(host.Temp); len(left) > 0 {
			t.Errorf("cancelled after %v: %v is left", after, left)
		}
	}
}
