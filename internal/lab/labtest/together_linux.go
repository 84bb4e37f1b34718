package labtest

import "syscall"

// Together lets a process that a test starts die with the test program, also
// when that is killed or runs out of time and no cleanup runs.
func Together() *syscall.SysProcAttr { return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} }
