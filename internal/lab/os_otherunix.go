//go:build unix && !linux

package lab

import "syscall"

// childAttributes: a group of its own, for the terminal's sake. There is no
// death signal here: the lab kills what a killed supervisor leaves.
func childAttributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// standsStill: a signal that was sent is believed here.
func standsStill(int) bool { return true }
