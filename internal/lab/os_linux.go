package lab

import (
	"bytes"
	"fmt"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// childAttributes: a death signal for when this program ends.
func childAttributes() *syscall.SysProcAttr {
	a := ownGroup()
	a.Pdeathsig = syscall.SIGKILL
	return a
}

// standsStill reports whether the process is stopped. Its state is the first
// field after its name, which is in brackets and may be anything.
func standsStill(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return false
	}
	_, state, found := bytes.Cut(stat[max(0, bytes.LastIndexByte(stat, ')')):], []byte(") "))
	return found && bytes.HasPrefix(state, []byte("T"))
}

// processorTime is what all threads of a process have used so far. The kernel
// has a clock for each process; its number holds the id (see clock_getcpuclockid).
func processorTime(pid int) (time.Duration, bool) {
	const scheduled = 2 // CPUCLOCK_SCHED
	var t unix.Timespec
	if pid <= 0 || unix.ClockGettime(int32(^pid<<3|scheduled), &t) != nil {
		return 0, false
	}
	return time.Duration(t.Nano()), true
}
