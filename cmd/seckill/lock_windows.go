package main

import (
	"os"
	"syscall"
	"time"
)

func heeded() []os.Signal { return []os.Signal{os.Interrupt} }

func ending(s os.Signal) (n syscall.Signal, ends bool) {
	n, ends = s.(syscall.Signal)
	return n, ends
}

// run starts the command and waits for its end. The console gives its Ctrl-C
// to all, so nothing is passed on. There are no groups to end, and no
// SIGTERM: a lost lock kills the command.
func (j *job) run() (status int, err error) {
	p, err := os.StartProcess(j.path, j.args, &os.ProcAttr{Env: j.env, Files: []*os.File{os.Stdin, os.Stdout, os.Stderr}})
	if err != nil {
		return 0, err
	}
	type end struct {
		state *os.ProcessState
		err   error
	}
	ended := make(chan end, 1)
	go func() {
		state, err := p.Wait()
		ended <- end{state, err}
	}()
	lost, over := j.lost, (<-chan time.Time)(nil)
	for {
		select {
		case <-j.signals:
		case <-lost:
			lost = nil
			over = time.After(0)
			j.onLost()
		case <-over:
			over = nil
			_ = p.Kill()
		case e := <-ended:
			if e.err != nil {
				return 0, e.err
			}
			return e.state.ExitCode(), nil
		}
	}
}
