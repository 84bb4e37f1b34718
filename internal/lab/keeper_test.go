package lab

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"syscall"
	"testing"
)

// The keeper kills only processes that have not ended. Another program may have the process id of one that has.
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
		_ = all[i].Process.Signal(syscall.SIGTERM) // reaches those that live
		_ = all[i].Wait()
		if how := all[i].ProcessState.Sys().(syscall.WaitStatus); how.Signal() != want {
			t.Errorf("process %d ended by %v, want %v", i+1, how.Signal(), want)
		}
	}
	if _, err := os.Stat(folder); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the folder is left: %v", err)
	}
}
