package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	"golang.org/x/sync/errgroup"
	"golang.org/x/sys/unix"

	"seckill/internal/backend"
	"seckill/internal/lab"
	"seckill/internal/lab/labtest"
)

// TestScripts runs the files in testdata/script in parallel, one file per command of seckill. The
// scripts can use the commands below besides those of testscript, and have the tests' environment.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{Dir: "testdata/script", RequireUniqueNames: true,
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"exits": exits, "refuses": refuses, "empties": empties, "busy": busyAddress, "http": httpCall, "until": until,
			"capture": capture, "json": checkJSON, "block": copyBlock,
			"start": start, "awaits": awaits, "signal": signals, "ends": ends,
			"servers": useServers, "own": useOwnServers, "alone": alone, "services": useServices,
		},
		Setup: func(env *testscript.Env) error {
			env.Values[scriptKey{}] = &script{TB: env.T().(testing.TB), processes: map[string]*process{}}
			env.Vars = slices.Concat(os.Environ(), env.Vars,
				[]string{"HOME=" + os.Getenv("HOME"),
					"XDG_DATA_HOME=" + filepath.Join(env.WorkDir, ".data"), `ABOVE0=0*\.?0*[1-9].*`})
			return nil
		}})
}

// A script is the state that the commands keep about the script that runs them.
type script struct {
	testing.TB
	processes map[string]*process
	own       *lab.Lab // lab of this script alone; nil if there is none
}

type scriptKey struct{}

func of(ts *testscript.TestScript) *script { return ts.Value(scriptKey{}).(*script) }

// environment returns the script's environment in the form of os.Environ.
func environment(ts *testscript.TestScript) []string {
	ts.Check(ts.Exec("sh", "-c", "env -0 >$WORK/.env"))
	return strings.Split(strings.TrimSuffix(ts.ReadFile(ts.Getenv("WORK")+"/.env"), "\x00"), "\x00")
}

// exits STATUS TEXT ARGS... runs seckill to its end. It checks the exit status, and that stderr (or stdout, if stderr
// is empty) has the text. An error must be one line. A wrong command line must start nothing.
func exits(ts *testscript.TestScript, _ bool, args []string) {
	status, stdout, stderr := runToEnd(ts, args[2:])
	if strconv.Itoa(status) != args[0] {
		ts.Fatalf("exit status %d, want %s", status, args[0])
	}
	checkFailure(ts, status, args[1], stdout, stderr)
}

// refuses TEXT ARGS... checks the same of a wrong command line that needs neither the files nor the environment of
// the script. The program runs inside the test, because a process takes a tenth of a second to start.
func refuses(ts *testscript.TestScript, _ bool, args []string) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	var stdout, stderr strings.Builder
	if status := runProgram(ctx, func() {}, args[1:], &stdout, &stderr); status != statusUsage {
		ts.Fatalf("exit status %d, want %d:\n%s%s", status, statusUsage, &stdout, &stderr)
	}
	checkFailure(ts, statusUsage, args[0], stdout.String(), stderr.String())
}

func checkFailure(ts *testscript.TestScript, status int, text, stdout, stderr string) {
	said := cmp.Or(stderr, stdout)
	switch line := strings.TrimSpace(logLine.ReplaceAllString(stderr, "")); {
	case !strings.Contains(said, text):
		ts.Fatalf("it does not say %q but %s", text, said)
	case strings.Contains(stdout+said, "goroutine "), strings.Contains(stdout+said, "hunter2"):
		ts.Fatalf("it shows a stack or a password")
	case status == statusUsage && strings.Contains(said, "tarting"):
		ts.Fatalf("it started something")
	case status == statusFailed && (strings.Contains(line, "\n") || len(line) > 600):
		ts.Fatalf("it says more than one line")
	}
}

// A logLine is a line in the log of seckill serve.
var logLine = regexp.MustCompile(`(?m)^time=.*\n`)

// runToEnd runs seckill and returns its exit status and its output.
func runToEnd(ts *testscript.TestScript, args []string) (status int, stdout, stderr string) {
	if err := ts.Exec("seckill", args...); err != nil {
		var exit *exec.ExitError
		if !errors.As(err, &exit) {
			ts.Fatalf("seckill cannot run: %v", err)
		}
		status = exit.ExitCode()
	}
	return status, ts.ReadFile("stdout"), ts.ReadFile("stderr")
}

// empties FOLDER waits until the folder is empty.
func empties(ts *testscript.TestScript, _ bool, args []string) {
	ts.Check(lab.Await(of(ts).Context(), patience, func(context.Context) error {
		left, err := os.ReadDir(ts.MkAbs(args[0]))
		if err == nil && len(left) > 0 {
			err = fmt.Errorf("left behind: %v", left)
		}
		return err
	}))
}

// busy VARIABLE sets the variable to an address that is in use.
func busyAddress(ts *testscript.TestScript, _ bool, args []string) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	ts.Check(err)
	ts.Defer(func() { l.Close() })
	ts.Setenv(args[0], l.Addr().String())
}

// http METHOD URL [BODY] makes a call with the bearer token of $BEARER. It prints the status, the
// header and the body of the answer. ! http checks that no server listens there.
func httpCall(ts *testscript.TestScript, neg bool, args []string) {
	text, err := answerTo(ts, args)
	if neg {
		if !errors.Is(err, syscall.ECONNREFUSED) {
			ts.Fatalf("%s answers %s, or %v", args[1], text, err)
		}
		return
	}
	ts.Check(err)
	_, err = io.WriteString(ts.Stdout(), text)
	ts.Check(err)
}

// copyBlock PAGE PATTERN FILE [OLD NEW]… finds the first block of code of a page with a line that
// matches. It writes the block into a file, and replaces the OLD texts by the NEW ones.
func copyBlock(ts *testscript.TestScript, _ bool, args []string) {
	text, err := os.ReadFile(filepath.Join(root, args[0]))
	ts.Check(err)
	wanted := regexp.MustCompile("(?m)" + args[1])
	for _, m := range fence.FindAllStringSubmatch(string(text), -1) {
		if wanted.MatchString(m[2]) {
			ts.Check(os.WriteFile(ts.MkAbs(args[2]), []byte(strings.NewReplacer(args[3:]...).Replace(m[2])), 0o600))
			return
		}
	}
	ts.Fatalf("%s has no block with %s", args[0], args[1])
}

func answerTo(ts *testscript.TestScript, args []string) (string, error) {
	request, err := http.NewRequest(args[0], args[1], strings.NewReader(strings.Join(args[2:], " ")))
	ts.Check(err)
	request.Header.Set("Content-Type", "application/json")
	if token := ts.Getenv("BEARER"); token != "" {
		request.Header.Set("Authorization", "Bearer "+token)
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return "", err
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	return fmt.Sprintf("%d\n%v\n%s", answer.StatusCode, answer.Header, body), err
}

// until PATTERN METHOD URL repeats the command http until its output has the pattern.
func until(ts *testscript.TestScript, _ bool, args []string) {
	ts.Check(lab.Await(of(ts).Context(), patience, func(context.Context) error {
		text, err := answerTo(ts, args[1:])
		switch {
		case err != nil:
			return err
		case !regexp.MustCompile(args[0]).MatchString(text):
			return fmt.Errorf("%s never says %q but %s", args[2], args[0], text)
		}
		_, err = io.WriteString(ts.Stdout(), text)
		return err
	}))
}

// capture PATTERN FILE VARIABLE sets the variable to the text that the pattern's first group
// matches. FILE may be a file, stdout or stderr.
func capture(ts *testscript.TestScript, _ bool, args []string) {
	groups := regexp.MustCompile(`(?m)` + args[0]).FindStringSubmatch(ts.ReadFile(args[1]))
	if groups == nil {
		ts.Fatalf("%s lacks %q", args[1], args[0])
	}
	ts.Setenv(args[2], groups[1])
}

// json FILE PATH PATTERN checks the values at a path, such as rows.*.name, in a JSON file. FILE may
// also be stdout or stderr. There must be at least one value, and all must match.
func checkJSON(ts *testscript.TestScript, _ bool, args []string) {
	var all any
	d := json.NewDecoder(strings.NewReader(ts.ReadFile(args[0])))
	d.UseNumber()
	ts.Check(d.Decode(&all))
	pattern, found := regexp.MustCompile(`\A(?:`+args[2]+`)\z`), 0
	at(all, strings.Split(args[1], "."), func(v any) {
		text, ok := v.(string)
		if !ok {
			b, err := json.Marshal(v)
			ts.Check(err)
			text = string(b)
		}
		if found++; !pattern.MatchString(text) {
			ts.Fatalf("%s is %s, want %s", args[1], text, args[2])
		}
	})
	if found == 0 {
		ts.Fatalf("there is no %s", args[1])
	}
}

// at calls f with each value at a path. The path has names, indices and *, which stands for all.
func at(v any, path []string, f func(any)) {
	if len(path) == 0 {
		f(v)
		return
	}
	switch v := v.(type) {
	case map[string]any:
		for name := range v {
			if path[0] == "*" || path[0] == name {
				at(v[name], path[1:], f)
			}
		}
	case []any:
		for i := range v {
			if path[0] == "*" || path[0] == strconv.Itoa(i) {
				at(v[i], path[1:], f)
			}
		}
	}
}

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
