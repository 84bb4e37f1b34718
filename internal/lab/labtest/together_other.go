//go:build !linux

package labtest

import "syscall"

// DieTogether returns no attributes, because only Linux can make a process die with its parent.
func DieTogether() *syscall.SysProcAttr { return nil }
