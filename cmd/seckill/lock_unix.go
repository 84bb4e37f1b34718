//go:build unix

package main

import (
	"os"
	"os/signal"
	"runtime"
	"slices"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// endingSignals end the wait for a lock, and are passed on to the command.
var endingSignals = []os.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGUSR1, syscall.SIGUSR2}

// heeded are the signals to listen to: the ending ones unless they are
// ignored (nohup), Ctrl-Z, and what the command does.
func heeded() []os.Signal {
	list := []os.Signal{syscall.SIGCHLD}
	for _, s := range append([]os.Signal{syscall.SIGTSTP}, endingSignals...) {
		if !signal.Ignored(s) {
			list = append(list, s)
		}
	}
	return list
}

// ending: while we wait for the lock, this signal ends us. Ctrl-Z stops us
// right here: nothing is held yet.
func ending(s os.Signal) (n syscall.Signal, ends bool) {
	if s == syscall.SIGTSTP {
		suspend()
	}
	n, _ = s.(syscall.Signal)
	return n, slices.Contains(endingSignals, s)
}

// run starts the command in a process group of its own, so that it and
// all that it starts can be ended, and nothing else is. It waits for the end. One
// goroutine sends the signals and reaps the command: no signal reaches another
// process that was given its number.
func (j *job) run() (status int, err error) {
	// On Linux the command's death is bound to the thread that started it.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	p, err := os.StartProcess(j.path, j.args, &os.ProcAttr{
		Env: j.env, Files: []*os.File{os.Stdin, os.Stdout, os.Stderr}, Sys: commandAttributes(),
	})
	if err != nil {
		return 0, err
	}
	group := p.Pid
	_ = p.Release() // wait4 tells of stops, too, which Process.Wait does not
	tty := openTerminal(group)
	defer tty.close()

	lost, over := j.lost, (<-chan time.Time)(nil)
	for {
		select {
		case s := <-j.signals:
			if s != syscall.SIGCHLD {
				send(group, s.(syscall.Signal))
				continue
			}
			var now syscall.WaitStatus
			for reap(group, &now) {
				switch {
				case now.Exited(), now.Signaled():
					if lost == nil {
						endGroup(group, over)
					}
					if now.Signaled() {
						return statusSignal + int(now.Signal()), nil
					}
					return now.ExitStatus(), nil
				case now.Stopped() && lost != nil:
					tty.stopped(now.StopSignal(), j.lost)
				}
			}
		case <-lost:
			lost = nil // once
			over = time.After(j.grace)
			j.onLost()
			send(group, syscall.SIGTERM)
		case <-over:
			over = nil
			_ = syscall.Kill(-group, syscall.SIGKILL)
		}
	}
}

// send passes a signal on to the group. What is stopped has to go on, or it
// would not hear of its end.
func send(group int, s syscall.Signal) {
	_ = syscall.Kill(-group, s)
	if s != syscall.SIGTSTP {
		_ = syscall.Kill(-group, syscall.SIGCONT)
	}
}

// reap asks for the next change of the command's state.
func reap(pid int, s *syscall.WaitStatus) bool {
	for {
		n, err := syscall.Wait4(pid, s, syscall.WNOHANG|syscall.WUNTRACED, nil)
		if err != syscall.EINTR {
			return err == nil && n == pid
		}
	}
}

// endGroup ends the processes that the command left behind when the lock was
// lost. No signal reports their end.
func endGroup(group int, over <-chan time.Time) {
	look := time.NewTicker(10 * time.Millisecond)
	defer look.Stop()
	for over != nil && syscall.Kill(-group, 0) == nil {
		select {
		case <-look.C:
		case <-over:
			over = nil
		}
	}
	_ = syscall.Kill(-group, syscall.SIGKILL)
}

// suspend stops this process until a SIGCONT. In the first group of a session
// (a container's, say) none would come: there it does nothing.
func suspend() {
	if session, err := unix.Getsid(0); err != nil || session == syscall.Getpgrp() {
		return
	}
	goOn := make(chan os.Signal, 1)
	signal.Notify(goOn, syscall.SIGCONT)
	defer signal.Stop(goOn)
	_ = syscall.Kill(os.Getpid(), syscall.SIGSTOP)
	<-goOn // a moment may pass until the stop reaches this thread
}

// A terminal is ours to lend: the command gets it when it asks for it, not
// before, so that others in our pipeline keep it until then. Nil: there is
// none, or no job control.
type terminal struct {
	*os.File
	group int // the command's
}

func openTerminal(group int) *terminal {
	f, err := os.OpenFile("/dev/tty", os.O_RDWR, 0)
	if err != nil {
		return nil
	}
	return &terminal{f, group}
}

func (t *terminal) foreground() int {
	n, err := unix.IoctlGetInt(int(t.Fd()), unix.TIOCGPGRP)
	if err != nil {
		return -1
	}
	return n
}

// give makes a group the terminal's. A process in the background is stopped for
// that, unless it ignores the signal. (The command has been started: it does not
// inherit this.)
func (t *terminal) give(group int) {
	signal.Ignore(syscall.SIGTTOU)
	_ = unix.IoctlSetPointerInt(int(t.Fd()), unix.TIOCSPGRP, group)
}

// stopped is called when the command has been stopped. Did it ask for the
// terminal, it gets it. Otherwise Ctrl-Z was pressed: we stop as well, so that
// the shell takes over, and go on when it lets us. Nothing renews the lock
// meanwhile, so it may be lost by then, and the command goes on to its end.
func (t *terminal) stopped(by syscall.Signal, lost <-chan struct{}) {
	if t == nil {
		return // what stopped it continues it
	}
	ours := syscall.Getpgrp()
	asks := by == syscall.SIGTTIN || by == syscall.SIGTTOU
	if !asks || t.foreground() != ours {
		lent := t.foreground() == t.group
		if lent {
			t.give(ours)
		}
		suspend()
		if t.foreground() != ours || !lent && !asks {
			// In the background now, or it never had the terminal.
			resume(t.group, lost)
			return
		}
	}
	t.give(t.group)
	resume(t.group, lost)
}

// resume lets the command go on, unless the lock is known to be lost: then it
// is woken together with its SIGTERM. What timers have to say after a stop,
// they say within a moment.
func resume(group int, lost <-chan struct{}) {
	select {
	case <-lost:
	case <-time.After(20 * time.Millisecond):
		_ = syscall.Kill(-group, syscall.SIGCONT)
	}
}

// close takes the terminal back.
func (t *terminal) close() {
	if t == nil {
		return
	}
	if t.foreground() == t.group {
		t.give(syscall.Getpgrp())
	}
	_ = t.Close()
}
