package lab

import (
	"bytes"
	"fmt"
	"os"
	"syscall"
)

// childAttributes: a group of its own, for the terminal's sake; and death
// together with the supervisor, for the case that the supervisor is killed.
func childAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// standsStill: the kernel says that the process is stopped. Its state is the
// first field behind its name, which is in brackets and may be anything.
func standsStill(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return false
	}
	_, state, found := bytes.Cut(stat[max(0, bytes.LastIndexByte(stat, ')')):], []byte(") "))
	return found && bytes.HasPrefix(state, []byte("T"))
}
