package lab

import "slices"

// SupervisorPID is for tests that kill it.
func (l *Lab) SupervisorPID() int { return l.supervisor.cmd.Process.Pid }

// Processes are all that the lab has started.
func (l *Lab) Processes() []*Process {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.processes)
}
