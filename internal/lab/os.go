package lab

import (
	"errors"
	"os"
	"os/signal"
	"syscall"
)

// ignoreTerminal: Ctrl-C is for the lab, which shuts down in order. SIGPIPE comes
// from the pipes to a lab that was killed.
func ignoreTerminal() {
	signal.Ignore(syscall.SIGINT, syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGPIPE)
}

// supervisorAttributes: a process group of its own, so that neither Ctrl-C nor a
// kill of the lab's group reaches the supervisor.
func supervisorAttributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

func act(p *os.Process, do action) error {
	return p.Signal(map[action]syscall.Signal{
		pause:     syscall.SIGSTOP,
		resume:    syscall.SIGCONT,
		terminate: syscall.SIGTERM,
		kill:      syscall.SIGKILL,
	}[do])
}

var errLocked = errors.New("another process holds the lock")

// tryLock takes a lock that the system releases when the process ends, however
// it ends.
func tryLock(f *os.File) error {
	err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return errLocked
	}
	return err
}

// isOurs reports whether the folder exists and only this user can write to it.
func isOurs(folder string) bool {
	info, err := os.Lstat(folder)
	if err != nil || !info.IsDir() {
		return false
	}
	owner, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(owner.Uid) == os.Getuid() && info.Mode().Perm()&0o022 == 0
}
