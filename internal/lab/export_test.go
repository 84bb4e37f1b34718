package lab

// KeeperPID is for tests that kill it.
func (l *Lab) KeeperPID() int { return l.keeper.cmd.Process.Pid }
