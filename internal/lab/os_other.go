//go:build !linux

package lab

import (
	"syscall"
	"time"
)

// childAttributes: a process group of its own, out of reach of the terminal's
// signals. Without a death signal, the lab kills what a killed supervisor leaves.
func childAttributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// standsStill cannot be asked here: the signal was sent.
func standsStill(int) bool { return true }

func processorTime(int) (time.Duration, bool) { return 0, false }
