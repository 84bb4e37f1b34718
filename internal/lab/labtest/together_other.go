//go:build !linux

package labtest

import "syscall"

// Together lets a process die with the test program where the system can do
// that: Linux.
func Together() *syscall.SysProcAttr { return nil }
