package lab

import "syscall"

// childAttributes: a group of its own, for the terminal's sake; and death
// together with the keeper, for the case that the keeper is killed.
func childAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
