package lab

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sync/errgroup"
	"golang.org/x/sys/unix"
)

// A server says how to run one process.
type server struct {
	name    string
	backend string // of backend.Name…; empty for a service
	// command is for the ports that it listens on; its address is the first.
	command func(ports []int) (*exec.Cmd, error)
	// check asks the server at addr for its version.
	check func(ctx context.Context, addr string) (version string, err error)
}

// A Process is a private server or a service process. It keeps its name, its
// address and its data over restarts.
type Process struct {
	Name string
	Addr string // host:port
	Log  string // a file

	lab     *Lab
	server  server
	ports   []int
	version string

	Harm sync.Mutex // held while a fault is injected or reverted

	mu  sync.Mutex
	run *running
}

const (
	// answerLimit bounds the wait for a server that starts. It is generous, for
	// busy machines.
	answerLimit = 30 * time.Second
	checkEvery  = 10 * time.Millisecond
	checkLimit  = time.Second

	askGivenEvery = 300 * time.Millisecond
)

// launchServers starts n servers on so many free ports each, which build may tell all of
// them: some must know each other's before the first one starts. All or none of them
// run when it returns.
func (l *Lab) launchServers(ctx context.Context, n, each int, build func(i int, ports [][]int) server) ([]*Process, error) {
	if n < 1 {
		return nil, nil
	}
	free, err := l.freePorts(n * each)
	if err != nil {
		return nil, err
	}
	ports := slices.Collect(slices.Chunk(free, each))
	processes := make([]*Process, n)
	together, failed := errgroup.WithContext(ctx)
	for i := range processes {
		s := build(i, ports)
		p := &Process{Name: s.name, lab: l, server: s, ports: ports[i], Log: l.logFile(s.name),
			Addr: net.JoinHostPort("127.0.0.1", strconv.Itoa(ports[i][0]))}
		processes[i] = p
		together.Go(func() error { return p.startProcess(failed) })
	}
	if err := together.Wait(); err != nil {
		killAll(processes)
		return nil, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.processes = append(l.processes, processes...)
	return processes, nil
}

// Ports are below the range of outgoing connections. Otherwise a client that
// redials a server that is down may get that server's port for its own end and
// connect to itself, and the server could not come back.
const (
	lowestPort  = 10000
	highestPort = 32767
)

// freePorts finds n ports of 127.0.0.1. Until it stops, the lab has a UDP socket of each
// number: two labs do not take the same, also while a server is not there yet, or down.
func (l *Lab) freePorts(n int) (found []int, err error) {
	for range 1000 {
		port := lowestPort + rand.IntN(highestPort-lowestPort+1)
		addr := net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
		kept, err := net.ListenPacket("udp", addr)
		if err != nil {
			continue
		}
		free, err := net.Listen("tcp", addr)
		if err != nil {
			kept.Close()
			continue
		}
		free.Close()
		l.mu.Lock()
		l.closers = append(l.closers, kept.Close)
		l.mu.Unlock()
		if found = append(found, port); len(found) == n {
			return found, nil
		}
	}
	return nil, fmt.Errorf("no free port on 127.0.0.1 between %d and %d: may this program listen at all?",
		lowestPort, highestPort)
}

// portOf is that of an address.
func portOf(addr string) string { return addr[strings.LastIndexByte(addr, ':')+1:] }

func killAll(processes []*Process) {
	ctx, cancel := context.WithTimeout(context.Background(), 2*checkLimit)
	defer cancel()
	for _, p := range processes {
		if p.currentRun() != nil {
			_ = p.Kill(ctx)
		}
	}
}

func (l *Lab) logFile(name string) string { return filepath.Join(l.folder, name+".log") }

// startProcess runs the process and waits until it answers.
func (p *Process) startProcess(ctx context.Context) error {
	cmd, err := p.server.command(p.ports)
	if err != nil {
		return err
	}
	run, err := p.lab.children.startChild(cmd, p.Log)
	if err != nil {
		return fmt.Errorf("start %s (%s): %w", p.Name, cmd.Path, err)
	}
	p.mu.Lock()
	p.run = run
	p.mu.Unlock()
	err = p.awaitAnswer(ctx, run)
	if err == nil {
		return nil
	}
	killing, cancel := context.WithTimeout(context.WithoutCancel(ctx), checkLimit)
	defer cancel()
	_ = p.Kill(killing)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return withLog(fmt.Errorf("%s did not start: %w", p.Name, err), p.Log)
}

func (p *Process) awaitAnswer(ctx context.Context, run *running) error {
	alive, ended := context.WithCancelCause(ctx)
	defer ended(nil)
	go func() {
		if run.awaitExit(alive) == nil {
			ended(errors.New("it ended with " + run.ended))
		}
	}()
	return Await(alive, answerLimit, func(ctx context.Context) error {
		version, err := p.server.check(ctx, p.Addr)
		if err == nil && p.version == "" { // later runs are of the same program, and others read it
			p.version = version
		}
		return err
	})
}

// withLog adds the end of a process's log to an error: the log itself goes with the
// lab's folder.
func withLog(err error, file string) error {
	text, _ := os.ReadFile(file)
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	return fmt.Errorf("%w; its log ends:\n    %s", err, strings.Join(lines[max(0, len(lines)-20):], "\n    "))
}

func (p *Process) currentRun() *running {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.run
}

// PID of the current run.
func (p *Process) PID() int { return p.currentRun().process.Pid }

// Done is closed when the current run ends. Each run has another.
func (p *Process) Done() <-chan struct{} { return p.currentRun().done }

// Alive: the process has not ended. It may be paused.
func (p *Process) Alive() bool {
	select {
	case <-p.Done():
		return false
	default:
		return true
	}
}

// Ended says how the process ended; empty while it has not.
func (p *Process) Ended() string {
	if p.Alive() {
		return ""
	}
	return p.currentRun().ended
}

// Pause stops the process without ending it: its sockets stay open and nothing
// answers.
func (p *Process) Pause() error {
	if err := p.currentRun().process.Signal(syscall.SIGSTOP); err != nil {
		return fmt.Errorf("pause %s: %w", p.Name, err)
	}
	return nil
}

// Resume continues a paused process.
func (p *Process) Resume() error {
	if err := p.currentRun().process.Signal(syscall.SIGCONT); err != nil {
		return fmt.Errorf("resume %s: %w", p.Name, err)
	}
	return nil
}

// Paused reports whether the system says that the process stands still.
func (p *Process) Paused() bool { return isStopped(p.PID()) }

// Kill ends the process as a crash does, and waits until it has ended.
func (p *Process) Kill(ctx context.Context) error {
	return p.endBy(ctx, "kill", func(r *running) error { return r.process.Kill() })
}

// Terminate asks the process to end, kills it if that takes too long, and waits until it
// has ended.
func (p *Process) Terminate(ctx context.Context) error {
	gently, stop := context.WithTimeout(ctx, finishing)
	defer stop()
	if p.endBy(gently, "terminate", (*running).sendTerm) == nil {
		return nil
	}
	return p.Kill(ctx)
}

// Restart starts the process again, on its old port and data, and waits until
// it answers. A Redis of the lab keeps no data.
func (p *Process) Restart(ctx context.Context) error {
	if p.Alive() {
		if err := p.Terminate(ctx); err != nil {
			return err
		}
	}
	return p.startProcess(ctx)
}

func (p *Process) endBy(ctx context.Context, what string, how func(*running) error) error {
	run := p.currentRun()
	if err := how(run); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("%s %s: %w", what, p.Name, err)
	}
	if err := run.awaitExit(ctx); err != nil {
		return fmt.Errorf("%s has not ended yet: %w", p.Name, err)
	}
	return nil
}

// isStopped reports whether the system says that a process stands still. Linux gives its
// state as the first field after its name, which is in brackets and may be anything.
func isStopped(pid int) bool {
	state, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err == nil {
		state = bytes.TrimSpace(state[bytes.LastIndexByte(state, ')')+1:])
	} else {
		state, _ = exec.Command("ps", "-o", "state=", "-p", strconv.Itoa(pid)).Output()
	}
	return bytes.HasPrefix(state, []byte("T"))
}

// processorTime is what all threads of a process have used so far. Linux has a clock
// for each process; its number holds the id (see clock_getcpuclockid).
func processorTime(pid int) (time.Duration, bool) {
	const scheduled = 2 // CPUCLOCK_SCHED
	var t unix.Timespec
	if pid <= 0 || unix.ClockGettime(int32(^pid<<3|scheduled), &t) != nil {
		return 0, false
	}
	return time.Duration(t.Nano()), true
}
