package lab

import "slices"

// KeeperPID returns the process id of the keeper, for tests that kill it.
func (l *Lab) KeeperPID() int { return l.children.keeper.Process.Pid }

// Processes returns all processes of the lab.
func (l *Lab) Processes() []*Process {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.processes)
}
