package labtest

import "syscall"

// DieTogether makes a process that a test starts die with the test program, even if the test program is killed and no
// cleanup runs.
func DieTogether() *syscall.SysProcAttr { return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} }
