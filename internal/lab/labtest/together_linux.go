package labtest

import "syscall"

// DieTogether returns attributes for a process that a test starts. The process then dies with the test program, even if
// the test program is killed and no cleanup runs.
func DieTogether() *syscall.SysProcAttr { return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} }
