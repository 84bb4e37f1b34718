package lab

import (
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"time"
)

// The keeper is the lab's own executable once more, as a process that starts
// every server and every service and knows nothing else. It gets its orders
// through a pipe from the lab. However the lab ends (Ctrl-C, a panic, kill -9)
// that pipe ends with it, and then the keeper ends what it started and removes
// the lab's folder. A shutdown in order is the same act, after a goodbye.
//
// When the keeper itself is killed, Linux kills its children (see
// childAttributes), and the lab kills them elsewhere. When both are killed at
// once the folder is left behind, and the next lab sweeps it.

const keeperEnv = "SECKILL_LAB_KEEPER"

// hooked says that main passed through RunKeeperIfAsked, without which a lab
// would start its program again and again instead of a keeper.
var hooked bool

// RunKeeperIfAsked makes this process a keeper, and never returns, when a lab
// started it as one. It is the first line of main, and of TestMain.
func RunKeeperIfAsked() {
	hooked = true
	if os.Getenv(keeperEnv) == "" {
		return
	}
	os.Unsetenv(keeperEnv)
	keep(os.Stdin, os.Stdout)
	os.Exit(0)
}

type child struct {
	cmd   *exec.Cmd
	grace time.Duration
}

type keeperProcess struct {
	folder   *folder
	children map[int]child
	ended    chan report
}

func keep(in io.Reader, out io.Writer) {
	// Children die with the thread that started them, so all are started by
	// this one, which is the last to go.
	runtime.LockOSThread()
	ignoreTerminal()
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, endingSignals...)

	orders := make(chan order)
	go func() {
		defer close(orders)
		lines := json.NewDecoder(in)
		for {
			var o order
			if lines.Decode(&o) != nil {
				return
			}
			orders <- o
		}
	}()
	k := &keeperProcess{children: map[int]child{}, ended: make(chan report)}
	reports := json.NewEncoder(out)
	for {
		select {
		case o, more := <-orders:
			if !more || o.Bye {
				k.finish()
				return
			}
			reports.Encode(k.obey(o))
		case r := <-k.ended:
			delete(k.children, r.PID)
			reports.Encode(r)
		case <-stop:
			k.finish()
			return
		}
	}
}

func (k *keeperProcess) obey(o order) report {
	r := report{ID: o.ID}
	var err error
	switch {
	case o.Folder != "":
		if k.folder, err = makeFolder(o.Folder); err == nil {
			r.Folder = k.folder.path
		}
	case o.Start != nil:
		r.PID, err = k.start(*o.Start)
	case o.Signal != nil:
		c, running := k.children[o.Signal.PID]
		if !running {
			err = os.ErrProcessDone
		} else {
			err = instruct(c.cmd.Process, o.Signal.What)
		}
	}
	if err != nil {
		r.Error = err.Error()
	}
	return r
}

func (k *keeperProcess) start(c command) (pid int, err error) {
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
	k.children[cmd.Process.Pid] = child{cmd, c.Grace}
	go func() {
		cmd.Wait() // the state says it all
		k.ended <- report{PID: cmd.Process.Pid, Ended: cmd.ProcessState.String()}
	}()
	return cmd.Process.Pid, nil
}

// finish first asks those to end that have something to finish (a service and
// its purchases) while the servers still stand, then kills the rest: their
// data goes with the folder.
func (k *keeperProcess) finish() {
	var longest time.Duration
	graceful := map[int]bool{}
	for pid, c := range k.children {
		if c.grace > 0 {
			graceful[pid] = true
			longest = max(longest, c.grace)
			instruct(c.cmd.Process, resume) // a paused process cannot end by itself
			instruct(c.cmd.Process, terminate)
		}
	}
	late := time.After(longest)
	for len(graceful) > 0 {
		select {
		case r := <-k.ended:
			delete(graceful, r.PID)
			delete(k.children, r.PID)
		case <-late:
			clear(graceful)
		}
	}
	for _, c := range k.children {
		instruct(c.cmd.Process, kill)
	}
	for len(k.children) > 0 {
		delete(k.children, (<-k.ended).PID)
	}
	if k.folder != nil {
		k.folder.remove()
	}
}
