package lab

import (
	"errors"
	"os"
	"syscall"

	"golang.org/x/sys/windows"
)

var endingSignals = []os.Signal{os.Interrupt}

func ignoreTerminal() {}

func supervisorAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{CreationFlags: windows.CREATE_NEW_PROCESS_GROUP}
}

func childAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{CreationFlags: windows.CREATE_NEW_PROCESS_GROUP}
}

func act(p *os.Process, do action) error {
	switch do {
	case terminate, kill:
		return p.Kill()
	case pause:
		return errors.New("Windows cannot pause a process")
	}
	return nil
}

var errLocked = errors.New("another process holds the lock")

// tryLock takes a lock that the system releases when the process ends. It locks
// a byte far beyond the end, because a locked byte cannot be read.
func tryLock(f *os.File) error {
	err := windows.LockFileEx(windows.Handle(f.Fd()), windows.LOCKFILE_EXCLUSIVE_LOCK|windows.LOCKFILE_FAIL_IMMEDIATELY,
		0, 1, 0, &windows.Overlapped{OffsetHigh: 1})
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) {
		return errLocked
	}
	return err
}

// isOurs: other users cannot write to a user's folders here.
func isOurs(folder string) bool {
	info, err := os.Stat(folder)
	return err == nil && info.IsDir()
}

// freeBytes of the disk that a folder is on.
func freeBytes(folder string) (free uint64, err error) {
	path, err := windows.UTF16PtrFromString(folder)
	if err != nil {
		return 0, err
	}
	err = windows.GetDiskFreeSpaceEx(path, &free, nil, nil)
	return free, err
}

func standsStill(int) bool { return false }
