package lab

import (
	"context"
	"io"
	"net/rpc"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"sync"
	"syscall"
	"time"
)

// The supervisor is the lab's own executable again, as a process that starts
// every server and service and does nothing else. It gets its requests through
// a pipe from the lab. However the lab ends (Ctrl-C, a panic, kill -9), the pipe
// closes with it; the supervisor then ends what it started and removes the lab's
// folder. An orderly shutdown takes the same path.
//
// If the supervisor itself is killed, Linux kills its children (see
// childAttributes); on other systems the lab does. If both are killed at once,
// the folder stays until the next lab removes it.

// supervisorArg is the whole command line of a supervisor.
const supervisorArg = "lab-supervisor"

// hooked is set once main has called RunSupervisorIfAsked. Otherwise a lab would
// start its program again and again instead of a supervisor.
var hooked bool

// RunSupervisorIfAsked turns this process into a supervisor, and never returns, if a
// lab started it as one. It is the first line of main and of TestMain.
func RunSupervisorIfAsked() {
	hooked = true
	if len(os.Args) != 2 || os.Args[1] != supervisorArg {
		return
	}
	supervise(os.Stdin, os.Stdout)
	os.Exit(0)
}

// A Command is a process to start. It is exported for net/rpc, as Control is.
type Command struct {
	Args  []string
	Env   []string
	Dir   string
	Stdin string        // a file; "": none
	Log   string        // a file that both outputs are appended to
	Grace time.Duration // how long it may take to end by itself; 0: it is killed
}

// A Control is what is to be done to a process.
type Control struct {
	PID int
	Do  action
}

// An action on a running process.
type action string

const (
	pause     action = "pause"
	resume    action = "resume"
	terminate action = "terminate"
	kill      action = "kill"
)

// endedWell is how a process ends that succeeded.
const endedWell = "exit status 0"

// supervising is what the lab can call, under this name. One goroutine does it all.
type supervising struct {
	do       chan func()
	folder   *folder
	children map[int]child
}

const rpcName = "Supervisor"

type child struct {
	cmd   *exec.Cmd
	grace time.Duration
	ended chan struct{} // closed when it has
}

// supervise returns when in has ended, and with it what was started.
func supervise(in io.Reader, out io.WriteCloser) {
	// Children die with the thread that started them, so this thread starts all
	// of them and lives as long as the process.
	runtime.LockOSThread()
	ignoreTerminal()
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, syscall.SIGTERM)
	s := &supervising{do: make(chan func()), children: map[int]child{}}
	server := rpc.NewServer()
	if err := server.RegisterName(rpcName, s); err != nil {
		panic(err)
	}
	gone := make(chan struct{})
	go server.ServeConn(requests{in, out, sync.OnceFunc(func() { close(gone) })})
	for {
		select {
		case do := <-s.do:
			do()
			continue
		case <-gone:
		case <-stop:
		}
		s.finish()
		return
	}
}

// requests come from the lab, until it is gone.
type requests struct {
	io.Reader
	io.WriteCloser
	gone func()
}

func (r requests) Read(p []byte) (int, error) {
	n, err := r.Reader.Read(p)
	if err != nil {
		r.gone()
	}
	return n, err
}

// now has the one goroutine do it.
func (s *supervising) now(do func() error) error {
	done := make(chan error, 1)
	s.do <- func() { done <- do() }
	return <-done
}

// MakeFolder makes the lab's folder in base.
func (s *supervising) MakeFolder(base string, path *string) error {
	return s.now(func() (err error) {
		if s.folder, err = makeFolder(base); err == nil {
			*path = s.folder.path
		}
		return err
	})
}

// Start starts a process.
func (s *supervising) Start(c Command, pid *int) error {
	return s.now(func() (err error) {
		*pid, err = s.start(c)
		return err
	})
}

func (s *supervising) start(c Command) (pid int, err error) {
	log, err := os.OpenFile(c.Log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return 0, err
	}
	defer log.Close()
	cmd := exec.Command(c.Args[0], c.Args[1:]...)
	cmd.Env, cmd.Dir, cmd.Stdout, cmd.Stderr = c.Env, c.Dir, log, log
	cmd.SysProcAttr = childAttributes()
	if c.Stdin != "" {
		stdin, err := os.Open(c.Stdin)
		if err != nil {
			return 0, err
		}
		defer stdin.Close()
		cmd.Stdin = stdin
	}
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	started := child{cmd, c.Grace, make(chan struct{})}
	s.children[cmd.Process.Pid] = started
	go func() {
		cmd.Wait() // its error repeats ProcessState
		close(started.ended)
	}()
	return cmd.Process.Pid, nil
}

// Control acts on a process that was started.
func (s *supervising) Control(c Control, _ *bool) error {
	return s.now(func() error { return act(s.children[c.PID].cmd.Process, c.Do) })
}

// Wait returns how a process that was started has ended.
func (s *supervising) Wait(pid int, how *string) error {
	var c child
	s.now(func() error {
		c = s.children[pid]
		return nil
	})
	<-c.ended
	*how = c.cmd.ProcessState.String()
	return nil
}

// finish first asks the services to end, which complete their purchases while
// the servers still run. It then kills the rest: their data goes with the folder.
func (s *supervising) finish() {
	var longest time.Duration
	for _, c := range s.children {
		if c.grace > 0 {
			longest = max(longest, c.grace)
			act(c.cmd.Process, resume) // a paused process cannot end by itself
			act(c.cmd.Process, terminate)
		}
	}
	late, cancel := context.WithTimeout(context.Background(), longest)
	defer cancel()
	for _, c := range s.children {
		if c.grace > 0 {
			select {
			case <-c.ended:
			case <-late.Done():
			}
		}
	}
	for _, c := range s.children {
		act(c.cmd.Process, kill)
	}
	for _, c := range s.children {
		<-c.ended
	}
	if s.folder != nil {
		s.folder.remove()
	}
}
