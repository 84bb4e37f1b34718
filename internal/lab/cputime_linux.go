package lab

import (
	"time"

	"golang.org/x/sys/unix"
)

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
