package lab

import (
	"os"
	"syscall"
)

// lockFolder opens a folder and locks it for as long as it is open: the system releases
// the lock when the process ends, however it ends. It returns nil if another process
// has the lock, or has removed the folder.
func lockFolder(path string) *os.File {
	f, err := os.Open(path)
	if err != nil {
		return nil
	}
	if err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err == nil {
		_, err = os.Stat(path)
	}
	if err != nil {
		f.Close()
		return nil
	}
	return f
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
