package lab

import (
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
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

// A request goes from the lab to its supervisor, as one line of JSON. One field
// besides ID is set.
type request struct {
	ID      int      `json:"id"`
	Folder  string   `json:"folder,omitempty"` // make the lab's folder in this one
	Start   *command `json:"start,omitempty"`
	Control *control `json:"control,omitempty"`
	Bye     bool     `json:"bye,omitempty"`
}

// A command is a process to start.
type command struct {
	Args  []string      `json:"args"`
	Env   []string      `json:"env"`
	Dir   string        `json:"dir,omitempty"`
	Stdin string        `json:"stdin,omitempty"` // a file
	Log   string        `json:"log"`             // a file that both outputs are appended to
	Grace time.Duration `json:"grace,omitempty"` // how long it may take to end by itself; 0: it is killed
}

type control struct {
	PID int    `json:"pid"`
	Do  action `json:"do"`
}

// An action on a running process.
type action string

const (
	pause     action = "pause"
	resume    action = "resume"
	terminate action = "terminate"
	kill      action = "kill"
)

// A report goes from the supervisor to the lab: the answer to the request ID or,
// if that is 0, the end of a process.
type report struct {
	ID     int    `json:"id,omitempty"`
	PID    int    `json:"pid,omitempty"`
	Folder string `json:"folder,omitempty"`
	Error  string `json:"error,omitempty"`
	Ended  string `json:"ended,omitempty"`
}

// endedWell is Ended of a process that succeeded.
const endedWell = "exit status 0"

type child struct {
	cmd   *exec.Cmd
	grace time.Duration
}

type supervising struct {
	folder   *folder
	children map[int]child
	ended    chan report
}

func supervise(in io.Reader, out io.Writer) {
	// Children die with the thread that started them, so this thread starts all
	// of them and lives as long as the process.
	runtime.LockOSThread()
	ignoreTerminal()
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, syscall.SIGTERM)

	requests := make(chan request)
	go func() {
		defer close(requests)
		lines := json.NewDecoder(in)
		for {
			var r request
			if lines.Decode(&r) != nil {
				return
			}
			requests <- r
		}
	}()
	s := &supervising{children: map[int]child{}, ended: make(chan report)}
	reports := json.NewEncoder(out)
	for {
		select {
		case r, more := <-requests:
			if !more || r.Bye {
				s.finish()
				return
			}
			reports.Encode(s.answer(r))
		case r := <-s.ended:
			delete(s.children, r.PID)
			reports.Encode(r)
		case <-stop:
			s.finish()
			return
		}
	}
}

func (s *supervising) answer(r request) report {
	answer := report{ID: r.ID}
	var err error
	switch {
	case r.Folder != "":
		if s.folder, err = makeFolder(r.Folder); err == nil {
			answer.Folder = s.folder.path
		}
	case r.Start != nil:
		answer.PID, err = s.start(*r.Start)
	case r.Control != nil:
		if c, running := s.children[r.Control.PID]; running {
			err = act(c.cmd.Process, r.Control.Do)
		} else {
			err = os.ErrProcessDone
		}
	}
	if err != nil {
		answer.Error = err.Error()
	}
	return answer
}

func (s *supervising) start(c command) (pid int, err error) {
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
	s.children[cmd.Process.Pid] = child{cmd, c.Grace}
	go func() {
		cmd.Wait() // its error repeats ProcessState
		s.ended <- report{PID: cmd.Process.Pid, Ended: cmd.ProcessState.String()}
	}()
	return cmd.Process.Pid, nil
}

// finish first asks the services to end, which complete their purchases while
// the servers still run. It then kills the rest: their data goes with the folder.
func (s *supervising) finish() {
	var longest time.Duration
	graceful := map[int]bool{}
	for pid, c := range s.children {
		if c.grace > 0 {
			graceful[pid] = true
			longest = max(longest, c.grace)
			act(c.cmd.Process, resume) // a paused process cannot end by itself
			act(c.cmd.Process, terminate)
		}
	}
	late := time.After(longest)
	for len(graceful) > 0 {
		select {
		case r := <-s.ended:
			delete(graceful, r.PID)
			delete(s.children, r.PID)
		case <-late:
			clear(graceful)
		}
	}
	for _, c := range s.children {
		act(c.cmd.Process, kill)
	}
	for len(s.children) > 0 {
		delete(s.children, (<-s.ended).PID)
	}
	if s.folder != nil {
		s.folder.remove()
	}
}
