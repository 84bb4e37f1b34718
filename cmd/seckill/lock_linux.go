package main

import "syscall"

// commandAttributes: a group of its own; and its end together with ours, for
// the case that we are killed and no process is left to release the lock.
func commandAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGTERM}
}
