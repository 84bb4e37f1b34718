package lab

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// stopped reports whether the system says that a process stands still. Linux gives its
// state as the first field after its name, which is in brackets and may be anything.
func stopped(pid int) bool {
	state, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err == nil {
		state = bytes.TrimSpace(state[bytes.LastIndexByte(state, ')')+1:])
	} else {
		state, _ = exec.Command("ps", "-o", "state=", "-p", strconv.Itoa(pid)).Output()
	}
	return bytes.HasPrefix(state, []byte("T"))
}

// processorTime is what all threads of a process have used so far. Linux has a clock
// for each process; its number holds the id (see clock_getcpuclockid).
func processorTime(pid int) (time.Duration, bool) {
	const scheduled = 2 // CPUCLOCK_SCHED
	var t unix.Timespec
	if pid <= 0 || unix.ClockGettime(int32(^pid<<3|scheduled), &t) != nil {
		return 0, false
	}
	return time.Duration(t.Nano()), true
}
