package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"gorm.io/gorm"

	"seckill/internal/lock"
)

// command runs the command until it ends, and is its exit status. It gets the
// signals that we get, and its end when the lock is lost.
func (h *holder) command(path string, l lock.Lease) (status int, lost bool, err error) {
	held, lose := context.WithCancelCause(l.Context())
	var watching sync.WaitGroup
	if s, ok := l.(lock.SessionLease); ok {
		watching.Go(func() { h.watch(held, s.Session(), lose) })
	}
	j := job{path: path, args: h.Command, env: h.environment(l.Fence()), signals: h.signals, lost: held.Done(), grace: h.Grace,
		onLost: func() { h.say("lost %s %s: ending the command", h.Name, h.Key) }}
	status, err = j.run()
	lost = errors.Is(context.Cause(held), lock.ErrLost)
	lose(nil)
	watching.Wait() // the session is for one at a time
	return status, lost, err
}

// watch sends something on the session that a lock lives in now and then, as a
// purchase would: the server ends a session that is idle, and the lock with
// it. No answer means the same.
func (h *holder) watch(held context.Context, session *gorm.DB, lose context.CancelCauseFunc) {
	again := time.NewTicker(max(h.TTL/3, time.Millisecond))
	defer again.Stop()
	for {
		select {
		case <-held.Done():
			return
		case <-again.C:
		}
		// A statement that is cancelled would end the session.
		asking, cancel := context.WithTimeout(context.WithoutCancel(held), h.TTL)
		err := session.WithContext(asking).Exec("DO 1").Error
		cancel()
		if err != nil {
			lose(lock.ErrLost)
			return
		}
	}
}

// environment is ours, without the token of a lock around us.
func (h *holder) environment(fence uint64) []string {
	env := slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, envFence+"=") })
	env = append(env, envLockName+"="+h.Name, envLockKey+"="+h.Key)
	if fence != 0 {
		env = append(env, fmt.Sprint(envFence, "=", fence))
	}
	return env
}

// A job is the command while it runs.
type job struct {
	path      string
	args, env []string
	signals   <-chan os.Signal
	lost      <-chan struct{} // the lock is
	grace     time.Duration
	onLost    func()
}

// findCommand looks for the command as a shell does.
func findCommand(name string) (path string, status int, err error) {
	path, err = exec.LookPath(name)
	switch {
	case err == nil, errors.Is(err, exec.ErrDot): // PATH says so
		return path, 0, nil
	case !strings.ContainsRune(name, filepath.Separator) && onPath(name):
		return "", statusNoExec, fs.ErrPermission
	}
	var wrapped *exec.Error
	if errors.As(err, &wrapped) {
		err = wrapped.Err
	}
	return "", notStarted(err), err
}

// onPath: it is there, though it is no program. exec.LookPath does not tell.
func onPath(name string) bool {
	return slices.ContainsFunc(filepath.SplitList(os.Getenv("PATH")), func(folder string) bool {
		info, err := os.Stat(filepath.Join(folder, name))
		return err == nil && !info.IsDir()
	})
}

func notStarted(err error) (status int) {
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, exec.ErrNotFound) {
		return statusNotFound
	}
	return statusNoExec
}
