//go:build !linux

package labtest

import "syscall"

// DieTogether does nothing, because only Linux can make a process die with its parent.
func DieTogether() *syscall.SysProcAttr { return nil }
