package lab

import (
	"bytes"
	"os"
	"strconv"
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

// machineTime is what all processors of this machine have worked so far.
func machineTime() (time.Duration, bool) {
	const perSecond = 100 // USER_HZ, which the kernel promises to programs
	text, err := os.ReadFile("/proc/stat")
	line, _, _ := bytes.Cut(text, []byte("\n"))
	fields := bytes.Fields(line)
	if err != nil || len(fields) < 9 || string(fields[0]) != "cpu" {
		return 0, false
	}
	var ticks int64
	for i, field := range fields[1:9] { // user nice system idle iowait irq softirq steal
		n, err := strconv.ParseInt(string(field), 10, 64)
		if err != nil {
			return 0, false
		}
		if idle := i == 3 || i == 4; !idle {
			ticks += n
		}
	}
	return time.Duration(ticks) * time.Second / perSecond, true
}
