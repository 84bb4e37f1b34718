package main

import (
	"os/exec"
	"runtime"

	"golang.org/x/sys/unix"
)

// startOnProcessor starts cmd on the n-th of the processors that this process may use, counted from 0. The processes
// that cmd starts stay on the same processor. If the system does not allow that, cmd runs on all processors.
func startOnProcessor(cmd *exec.Cmd, n int) error {
	// A new process inherits the processors of the thread that starts it.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var all, one unix.CPUSet
	if err := unix.SchedGetaffinity(0, &all); err != nil {
		return cmd.Start()
	}
	for cpu := range 64 * len(all) {
		if !all.IsSet(cpu) {
			continue
		}
		if n == 0 {
			one.Set(cpu)
		}
		n--
	}
	if one.Count() == 1 && unix.SchedSetaffinity(0, &one) == nil {
		defer func() { _ = unix.SchedSetaffinity(0, &all) }()
	}
	return cmd.Start()
}
