package main

import "syscall"

// commandAttributes: a group of its own; and its end together with ours, for
// the case that we are killed and nobody is left to give the lock back.
func commandAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGTERM}
}
