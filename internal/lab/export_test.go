package lab

import "slices"

// KeeperPID is for tests that kill it.
func (l *Lab) KeeperPID() int { return l.keeper.cmd.Process.Pid }

// SocketUser is who may administer a private MariaDB.
func SocketUser() string { return socketUser() }

// Processes are all that the lab has started.
func (l *Lab) Processes() []*Process {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.processes)
}
