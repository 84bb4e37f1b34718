//go:build !linux

package lab

import (
	"syscall"
	"time"
)

func childAttributes() *syscall.SysProcAttr { return ownGroup() }

// standsStill cannot be asked here: the signal was sent.
func standsStill(int) bool { return true }

func processorTime(int) (time.Duration, bool) { return 0, false }
