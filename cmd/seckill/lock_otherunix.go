//go:build unix && !linux

package main

import "syscall"

// commandAttributes: a group of its own. There is no death signal here: when
// we are killed, the command runs on, and the lock ends by itself.
func commandAttributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
