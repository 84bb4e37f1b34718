package lab

import "slices"

// KeeperPID is for tests that kill it.
func (l *Lab) KeeperPID() int { return l.children.keeper.Process.Pid }

// Processes are all that the lab has started.
func (l *Lab) Processes() []*Process {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.processes)
}
