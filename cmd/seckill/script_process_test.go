package main

import (
	"context"
	"io"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	"golang.org/x/sync/errgroup"
	"golang.org/x/sys/unix"

	"seckill/internal/backend"
	"seckill/internal/lab"
	"seckill/internal/lab/labtest"
)

// patience bounds every wait. It is long, because the machine may be busy.
const patience = 3 * time.Minute

// A process runs beside the script, and writes its output into two of the script's files.
type process struct {
	*exec.Cmd
	out, said string
	read      map[string]int // for each file, how much the script has read
	done      chan struct{}
}

func written(file string) string {
	text, _ := os.ReadFile(file)
	return string(text)
}

// start NAME PROGRAM ARGS... starts a program beside the script.
func start(ts *testscript.TestScript, _ bool, args []string) {
	p := &process{Cmd: exec.Command(args[1], args[2:]...), read: map[string]int{}, done: make(chan struct{}),
		out: ts.MkAbs("." + args[0] + ".out"), said: ts.MkAbs("." + args[0] + ".err")}
	p.Dir, p.Env, p.SysProcAttr = ts.MkAbs("."), environment(ts), labtest.DieTogether()
	stdout, err := os.Create(p.out)
	ts.Check(err)
	defer stdout.Close()
	stderr, err := os.Create(p.said)
	ts.Check(err)
	defer stderr.Close()
	p.Stdout, p.Stderr = stdout, stderr
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

// named returns the process that the first argument names.
func named(ts *testscript.TestScript, args []string) *process {
	p := of(ts).processes[args[0]]
	if p == nil {
		ts.Fatalf("there is no process %q", args[0])
	}
	return p
}

// awaits NAME PATTERN [VARIABLE...] waits until the process has written the pattern to standard output or standard
// error. It ignores text that the script has read already. It sets the variables to the groups of the pattern.
func awaits(ts *testscript.TestScript, _ bool, args []string) {
	p := named(ts, args)
	pattern, err := regexp.Compile(args[1])
	ts.Check(err)
	for late, ended := time.Now().Add(patience), false; ; {
		for _, file := range []string{p.out, p.said} {
			text := written(file)[p.read[file]:]
			groups, at := pattern.FindStringSubmatch(text), pattern.FindStringIndex(text)
			if groups == nil {
				continue
			}
			p.read[file] += at[1]
			for i, name := range args[2:] {
				ts.Setenv(name, groups[min(i+1, len(groups)-1)])
			}
			return
		}
		if ended || time.Now().After(late) {
			ts.Fatalf("%v does not write %q (ended: %v) but\n%s%s", p.Args, args[1], ended, written(p.out),
				written(p.said))
		}
		select {
		case <-p.done:
			ended = true
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// signal NAME SIGNAL sends a signal to the process.
func signals(ts *testscript.TestScript, _ bool, args []string) {
	ts.Check(named(ts, args).Process.Signal(unix.SignalNum(args[1])))
}

// ends NAME STATUS [TEXT] waits until the process has ended. It checks the exit status against a pattern, and that
// standard error has the text. If a signal ended the process, the status is the signal's number with a minus.
func ends(ts *testscript.TestScript, _ bool, args []string) {
	p := named(ts, args)
	select {
	case <-p.done:
	case <-time.After(patience):
		ts.Fatalf("%v has not ended in %v:\n%s%s", p.Args, patience, written(p.out), written(p.said))
	}
	_, _ = io.WriteString(ts.Stdout(), written(p.out))
	_, _ = io.WriteString(ts.Stderr(), written(p.said))
	if !regexp.MustCompile(`\A(?:` + args[1] + `)\z`).MatchString(p.status()) {
		ts.Fatalf("%v: exit status %s, want %s", p.Args, p.status(), args[1])
	}
	if text := strings.Join(args[2:], " "); !strings.Contains(written(p.said), text) {
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

// servers NEED... lets the test program's lab run these servers. The script's environment then
// names them and no others.
func useServers(ts *testscript.TestScript, _ bool, args []string) {
	needs := labtest.Map(args, func(name string) backend.Capability { return backend.Capability(name) })
	for name, value := range labtest.Config(of(ts), needs...).Environment() {
		ts.Setenv(name, value)
	}
}

// own starts servers of all kinds that only this script uses, and names them in the script's
// environment. own kill kills all of them, and own restart restarts them.
func useOwnServers(ts *testscript.TestScript, _ bool, args []string) {
	s := of(ts)
	if len(args) == 0 {
		l, err := lab.Start(s.Context(), lab.Options{Host: labtest.HostIn(s)})
		ts.Check(err)
		ts.Defer(func() { ts.Check(l.Stop(context.Background())) })
		for name, value := range l.Config().Environment() {
			ts.Setenv(name, value)
		}
		s.own = l
		return
	}
	var all errgroup.Group
	for _, name := range strings.Fields("mysql redis redlock-1 redlock-2 redlock-3 redlock-4 redlock-5 zookeeper etcd") {
		p, err := s.own.Process(name)
		ts.Check(err)
		all.Go(func() error {
			if args[0] == "kill" {
				return p.Kill(s.Context())
			}
			return p.Restart(s.Context())
		})
	}
	ts.Check(all.Wait())
}

// A script that sells on the shared servers locks ledgers, because these have one ledger.
var ledgers sync.Mutex

// alone waits until no other script sells on the shared servers.
func alone(ts *testscript.TestScript, _ bool, _ []string) {
	ledgers.Lock()
	ts.Defer(ledgers.Unlock)
}

// services sets $TARGET to two service processes, and names their servers. No other script uses them meanwhile.
func useServices(ts *testscript.TestScript, neg bool, _ []string) {
	alone(ts, neg, nil)
	l, urls := sharedServices(of(ts))
	ts.Setenv("TARGET", strings.Join(urls, ","))
	ts.Setenv("SECKILL_TOKEN", l.Token())
	useServers(ts, neg, []string{string(backend.SQL), string(backend.Redis)})
}
