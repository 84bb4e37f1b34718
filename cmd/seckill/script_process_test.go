package main

import (
	"io"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	"golang.org/x/sys/unix"

	"seckill/internal/lab/labtest"
)

// patience is for machines that have much else to do.
const patience = 3 * time.Minute

// A process runs beside the script.
type process struct {
	*exec.Cmd
	out, said stream
	done      chan struct{}
}

// A stream is what a process has written.
type stream struct {
	mu   sync.Mutex
	text []byte
	read int           // so far the script has read
	more chan struct{} // closed when there is more
}

func (o *stream) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.text = append(o.text, p...)
	if o.more != nil {
		close(o.more)
		o.more = nil
	}
	return len(p), nil
}

// find looks for a pattern in what was not read yet, and reads up to its end.
func (o *stream) find(pattern *regexp.Regexp) (groups []string, more <-chan struct{}) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if at := pattern.FindSubmatchIndex(o.text[o.read:]); at != nil {
		groups = pattern.FindStringSubmatch(string(o.text[o.read:]))
		o.read += at[1]
	}
	if o.more == nil {
		o.more = make(chan struct{})
	}
	return groups, o.more
}

func (o *stream) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return string(o.text)
}

// start NAME PROGRAM ARGS... starts a program beside the script.
func start(ts *testscript.TestScript, _ bool, args []string) {
	p := &process{Cmd: exec.Command(args[1], args[2:]...), done: make(chan struct{})}
	p.Dir, p.Env, p.SysProcAttr = ts.MkAbs("."), environment(ts), labtest.Together()
	p.WaitDelay = time.Second // the program may have left a child with our pipe
	p.Stdout, p.Stderr = &p.out, &p.said
	ts.Check(p.Start())
	go func() {
		defer close(p.done)
		_ = p.Wait()
	}()
	ts.Defer(func() {
		_ = p.Process.Kill()
		<-p.done
	})
	of(ts).processes[args[0]] = p
}

// named finds the process that the first argument names.
func named(ts *testscript.TestScript, args []string) *process {
	p := of(ts).processes[args[0]]
	if p == nil {
		ts.Fatalf("there is no process %q", args[0])
	}
	return p
}

// expect waits until one of the outputs has the pattern, and sets variables to
// its groups.
func (p *process) expect(ts *testscript.TestScript, pattern string, variables []string, outputs ...*stream) {
	compiled, err := regexp.Compile(pattern)
	ts.Check(err)
	late := time.After(patience)
	for ended := false; ; {
		var more []<-chan struct{}
		for _, o := range outputs {
			groups, next := o.find(compiled)
			if groups != nil {
				for i, name := range variables {
					ts.Setenv(name, groups[min(i+1, len(groups)-1)])
				}
				return
			}
			more = append(more, next)
		}
		if ended {
			ts.Fatalf("%v ended with %s instead of writing %q:\n%s%s", p.Args, p.status(), pattern, &p.out, &p.said)
		}
		select {
		case <-more[0]:
		case <-more[len(more)-1]:
		case <-p.done:
			ended = true
		case <-late:
			ts.Fatalf("%v does not write %q but\n%s%s", p.Args, pattern, &p.out, &p.said)
		}
	}
}

// awaits NAME PATTERN [VARIABLE...] waits until the process has written the
// pattern, to standard output or to standard error.
func awaits(ts *testscript.TestScript, _ bool, args []string) {
	p := named(ts, args)
	p.expect(ts, args[1], args[2:], &p.out, &p.said)
}

// signal NAME SIGNAL
func signals(ts *testscript.TestScript, _ bool, args []string) {
	ts.Check(named(ts, args).Process.Signal(unix.SignalNum(args[1])))
}

// ends NAME STATUS [TEXT] waits until the process has ended, and checks its
// status, a pattern, and that it said the text on standard error. A status is
// the number of the signal with a minus if a signal ended the process.
func ends(ts *testscript.TestScript, _ bool, args []string) {
	p := named(ts, args)
	select {
	case <-p.done:
	case <-time.After(patience):
		ts.Fatalf("%v has not ended in %v:\n%s%s", p.Args, patience, &p.out, &p.said)
	}
	_, _ = io.WriteString(ts.Stdout(), p.out.String())
	_, _ = io.WriteString(ts.Stderr(), p.said.String())
	if !regexp.MustCompile(`\A(?:` + args[1] + `)\z`).MatchString(p.status()) {
		ts.Fatalf("%v: exit status %s, want %s", p.Args, p.status(), args[1])
	}
	if text := strings.Join(args[2:], " "); !strings.Contains(p.said.String(), text) {
		ts.Fatalf("%v does not say %q", p.Args, text)
	}
}

func (p *process) status() string {
	<-p.done
	if s := p.ProcessState.Sys().(syscall.WaitStatus); s.Signaled() {
		return strconv.Itoa(-int(s.Signal()))
	}
	return strconv.Itoa(p.ProcessState.ExitCode())
}
