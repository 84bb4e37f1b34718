package lab

import (
	"os"
	"path/filepath"
)

// A folder is the lab's own, with a lock that lives as long as its keeper.
type folder struct {
	path string
	lock *os.File
}

const (
	folderPattern = "seckill-lab-*"
	lockName      = "lock"
)

// makeFolder makes a folder in base, and removes those there whose labs died.
func makeFolder(base string) (*folder, error) {
	left, _ := filepath.Glob(filepath.Join(base, folderPattern))
	for _, path := range left {
		sweep(path)
	}
	for {
		path, err := os.MkdirTemp(base, folderPattern)
		if err != nil {
			return nil, err
		}
		lock, err := createLocked(filepath.Join(path, lockName))
		if err != nil {
			os.RemoveAll(path)
			return nil, err
		}
		if lock != nil {
			return &folder{path, lock}, nil
		}
	}
}

func (f *folder) remove() error {
	f.lock.Close()
	return os.RemoveAll(f.path)
}

// sweep removes a folder that has no living lab. What cannot be removed is
// somebody else's. A folder without a lock file is being made.
func sweep(path string) {
	lock := lockDead(filepath.Join(path, lockName))
	if lock == nil {
		return
	}
	os.RemoveAll(path)
	lock.Close()
	os.RemoveAll(path) // Windows removes no open file
}

// createLocked makes a file and locks it for as long as it is open. It gives
// nil when a sweeper came between the two and took the file for a dead lab's.
func createLocked(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	if tryLock(f) == nil && isStill(path, f) {
		return f, nil
	}
	f.Close()
	return nil, nil
}

// lockDead locks the file of a lab that is no more; nil if it lives.
func lockDead(path string) *os.File {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return nil
	}
	if tryLock(f) != nil {
		f.Close()
		return nil
	}
	return f
}

func isStill(path string, f *os.File) bool {
	named, err := os.Stat(path)
	if err != nil {
		return false
	}
	opened, err := f.Stat()
	return err == nil && os.SameFile(named, opened)
}
