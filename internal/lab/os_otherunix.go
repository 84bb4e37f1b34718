//go:build unix && !linux

package lab

import "syscall"

// childAttributes: a group of its own, for the terminal's sake. There is no
// death signal here: the lab kills what a killed keeper leaves.
func childAttributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
