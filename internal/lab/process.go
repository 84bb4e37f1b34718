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

// A server describes how to run one process.
type server struct {
	name    string
	backend string // name of the backend, such as backend.NameRedis; "" for a service process
	// command returns the command that listens on these ports. Clients use the first port.
	command func(ports []int) (*exec.Cmd, error)
	// ask asks the server at addr for its version, and whether it is the leader of several servers.
	ask func(ctx context.Context, addr string) (version string, leads bool, err error)
}

// A Process is a private server or a service process. A restart keeps its name, its address and its data.
type Process struct {
	Name string
	Addr string // host:port
	Log  string // a file

	lab     *Lab
	server  server
	ports   []int
	version string

	Harm sync.Mutex // locked while a fault is injected into the process, and while the fault is undone

	mu  sync.Mutex
	run *running
}

const (
	// answerTimeout bounds the wait for a server that starts, also on a busy machine.
	answerTimeout = 30 * time.Second
	checkInterval = 10 * time.Millisecond
	checkTimeout  = time.Second
)

// launchServers starts n servers, each with portsEach free ports. The function build describes the i-th server. Some
// servers must know each other's ports, so build gets the ports of all servers. If one server fails to start,
// launchServers kills the others.
func (l *Lab) launchServers(ctx context.Context, n, portsEach int,
	build func(i int, ports [][]int) server) ([]*Process, error) {
	if n < 1 {
		return nil, nil
	}
	free, err := l.freePorts(n * portsEach)
	if err != nil {
		return nil, err
	}
	ports := slices.Collect(slices.Chunk(free, portsEach))
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

// The system takes the local ports of outgoing connections from a range above maxPort. If a server's port were in this
// range, a client that dials the stopped server could get the same port as its local port and connect to itself. Then
// the server could not start again.
const (
	minPort = 10000
	maxPort = 32767
)

// freePorts finds n free TCP ports of 127.0.0.1. For each of them, the lab also opens the UDP port with the same number
// and keeps it open until Stop. So other labs skip this number, even while the lab's server is down.
func (l *Lab) freePorts(n int) ([]int, error) {
	var found []int
	for range 1000 {
		port := minPort + rand.IntN(maxPort-minPort+1)
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
		minPort, maxPort)
}

func killAll(processes []*Process) {
	ctx, cancel := context.WithTimeout(context.Background(), 2*checkTimeout)
	defer cancel()
	for _, p := range processes {
		if p.currentRun() != nil {
			_ = p.Kill(ctx)
		}
	}
}

func (l *Lab) logFile(name string) string { return filepath.Join(l.folder, name+".log") }

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
	if err = p.awaitAnswer(ctx, run); err == nil {
		return nil
	}
	killing, cancel := context.WithTimeout(context.WithoutCancel(ctx), checkTimeout)
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
	return Await(alive, answerTimeout, func(ctx context.Context) error {
		version, _, err := p.server.ask(ctx, p.Addr)
		if err == nil && p.version == "" { // other goroutines may read version during a restart, so set it only once
			p.version = version
		}
		return err
	})
}

// withLog adds the last lines of a process's log to an error, because Stop removes the log with the lab's folder.
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

// PID returns the process id of the current run.
func (p *Process) PID() int { return p.currentRun().process.Pid }

// Done returns a channel that is closed when the current run ends. Each run has a new channel.
func (p *Process) Done() <-chan struct{} { return p.currentRun().done }

// Alive reports whether the process is running or paused.
func (p *Process) Alive() bool {
	select {
	case <-p.Done():
		return false
	default:
		return true
	}
}

// Ended says how the process ended. It returns "" if the process still runs.
func (p *Process) Ended() string {
	if p.Alive() {
		return ""
	}
	return p.currentRun().ended
}

// Pause stops the process without ending it. Its sockets stay open, and it does not answer.
func (p *Process) Pause() error { return p.signal(syscall.SIGSTOP) }

// Resume continues a paused process.
func (p *Process) Resume() error { return p.signal(syscall.SIGCONT) }

func (p *Process) signal(s syscall.Signal) error {
	if err := p.currentRun().process.Signal(s); err != nil {
		return fmt.Errorf("send %s the signal %v: %w", p.Name, s, err)
	}
	return nil
}

// Kill ends the process as a crash does, and waits until it has ended.
func (p *Process) Kill(ctx context.Context) error { return p.endBy(ctx, syscall.SIGKILL) }

// Terminate asks the process to end and waits until it has ended. After finishTimeout it kills the process.
func (p *Process) Terminate(ctx context.Context) error {
	gently, stop := context.WithTimeout(ctx, finishTimeout)
	defer stop()
	_ = p.Resume() // continue a paused process, because it would not handle the signal
	if p.endBy(gently, syscall.SIGTERM) == nil {
		return nil
	}
	return p.Kill(ctx)
}

// Restart starts the process again with its ports and its data, and waits until it answers. A Redis server of the lab
// restarts without data, because it writes none to disk.
func (p *Process) Restart(ctx context.Context) error {
	if p.Alive() {
		if err := p.Terminate(ctx); err != nil {
			return err
		}
	}
	return p.startProcess(ctx)
}

func (p *Process) endBy(ctx context.Context, s syscall.Signal) error {
	run := p.currentRun()
	if err := p.signal(s); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	if err := run.awaitExit(ctx); err != nil {
		return fmt.Errorf("%s has not ended yet: %w", p.Name, err)
	}
	return nil
}

// Paused reports whether the process is paused. On Linux, the state follows the process's name in its stat file. The
// name is in parentheses and may itself contain parentheses.
func (p *Process) Paused() bool {
	pid := p.PID()
	state, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err == nil {
		state = bytes.TrimSpace(state[bytes.LastIndexByte(state, ')')+1:])
	} else {
		state, _ = exec.Command("ps", "-o", "state=", "-p", strconv.Itoa(pid)).Output()
	}
	return bytes.HasPrefix(state, []byte("T"))
}

// processorTime returns the processor time of all threads of a process. Linux measures it with one clock for each
// process. The number of this clock contains the process id (see clock_getcpuclockid).
func processorTime(pid int) (time.Duration, bool) {
	const scheduled = 2 // the kernel's CPUCLOCK_SCHED, which selects the time spent running
	var t unix.Timespec
	if pid <= 0 || unix.ClockGettime(int32(^pid<<3|scheduled), &t) != nil {
		return 0, false
	}
	return time.Duration(t.Nano()), true
}
