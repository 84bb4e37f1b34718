// Package lab runs private servers and service processes in a folder of its own
// and leaves nothing behind, however it ends. A server that is not installed is
// replaced by an engine in this process if there is one (SQLite for plain SQL,
// miniredis for a single Redis); otherwise its status says what is missing.
package lab

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"seckill/internal/backend"
)

// Options say what a lab consists of. Only Host is needed: the rest of the zero
// value means every backend, as private servers.
type Options struct {
	Host Host
	// Given are backends that run already.
	Given backend.Config
	// Backends limits the lab to these names. Nil means all.
	Backends []string
	// Embedded takes the embedded engines even where servers are installed.
	Embedded bool
	// Topology is how several servers of a backend are arranged; "" is Single.
	Topology string
	// Volatile databases, and ZooKeeper, do not flush their log at every commit. They are for
	// exploring, not for measuring.
	Volatile bool
	// Programs are the servers to use. Nil means those of this machine.
	Programs map[Tool]Program
	// Links has each service process reach each private server through a link of
	// its own, which faults of the network befall.
	Links bool
	// Token is the service processes' admin token. "" means a random one.
	Token string
	// ServiceArgs are further arguments of the service processes of Serve.
	ServiceArgs []string
	// OnWait is told once of each given backend that cannot be used yet, and why, perhaps of
	// several at a time. It is asked again until Start's context ends. Nil: the first answer
	// counts.
	OnWait func(error)
}

// A Lab is a set of running backends and service processes.
type Lab struct {
	options  Options
	kinds    map[string]kind // by their names
	topology topology
	programs map[Tool]Program
	children *children
	folder   string

	executable string // this program, which runs as services, too
	passwords  passwords

	adding chan struct{} // holds one element while a call of Add starts backends

	mu        sync.Mutex
	config    backend.Config
	statuses  map[string]backend.Status
	groups    map[string]*Ensemble // backends of several servers, of which one can be lost
	processes []*Process
	links     map[linkOf]*Relay
	closers   []func() error
	serving   ServiceSettings
	stopped   bool
}

// Start starts a lab and waits until everything in it answers. If it fails or ctx
// ends first, it leaves nothing behind.
func Start(ctx context.Context, o Options) (*Lab, error) {
	if o.Backends == nil {
		o.Backends = backend.Names()
	}
	executable, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find this program's own file, to run it again: %w", err)
	}
	if err := o.Given.Check(); err != nil {
		return nil, err
	}
	if o.Token == "" {
		o.Token = rand.Text()
	}
	l := &Lab{options: o, executable: executable, config: o.Given, passwords: passwords{mysql: rand.Text(), redis: rand.Text()},
		adding: make(chan struct{}, 1), statuses: map[string]backend.Status{}, groups: map[string]*Ensemble{}, links: map[linkOf]*Relay{}}
	l.config.Tiers = map[string]backend.Tier{}
	l.kinds = l.makeKinds()
	if err := l.setTopology(o); err != nil {
		return nil, err
	}
	if l.programs = o.Programs; l.programs == nil {
		l.programs = map[Tool]Program{}
		search := NewSearch(o.Host.Getenv)
		for _, tool := range ServerTools {
			l.programs[tool] = search.Find(tool)
		}
	}
	if err := l.makeFolder(); err != nil {
		return nil, err
	}
	if err := l.Add(ctx, o.Backends...); err != nil {
		stopping, cancel := context.WithTimeout(context.WithoutCancel(ctx), 15*time.Second)
		defer cancel()
		return nil, errors.Join(err, l.Stop(stopping))
	}
	return l, nil
}

// makeFolder makes the folder.
func (l *Lab) makeFolder() error {
	base, err := filepath.Abs(l.options.Host.Temp) // servers have another working folder
	if err != nil {
		return fmt.Errorf("find the folder %s: %w", l.options.Host.Temp, err)
	}
	if l.folder, err = os.MkdirTemp(base, "seckill-"); err != nil {
		return fmt.Errorf("make the lab's folder in %s: %w (name another place with TMPDIR)", base, err)
	}
	if l.children, err = newChildren(l.folder, l.serverEnv()); err != nil {
		return errors.Join(fmt.Errorf("start the lab's keeper: %w", err), os.RemoveAll(l.folder))
	}
	return nil
}

// Config is the configuration of an instance on this lab.
func (l *Lab) Config() backend.Config {
	l.mu.Lock()
	defer l.mu.Unlock()
	c := l.config
	c.Tiers = maps.Clone(l.config.Tiers)
	return c
}

// Backends are the lab's backends with address and version, or with the reason
// why they do not run.
func (l *Lab) Backends() []backend.Status {
	l.mu.Lock()
	defer l.mu.Unlock()
	var list []backend.Status
	for _, name := range backend.Names() {
		status, there := l.statuses[name]
		if !there {
			continue
		}
		for _, p := range l.processes {
			if p.server.backend == name && status.OK && !p.Alive() {
				status.OK, status.Error = false, p.Name+" has ended: "+p.Ended()
			}
		}
		list = append(list, status)
	}
	return list
}

// Process finds a private server or a service by its name: mysql, redis,
// redlock-1 …, zookeeper, etcd, service-1 …
func (l *Lab) Process(name string) (*Process, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	var names []string
	for _, p := range l.processes {
		if p.Name == name {
			return p, nil
		}
		names = append(names, p.Name)
	}
	slices.Sort(names)
	return nil, fmt.Errorf("the lab runs no process called %q, only %v", name, names)
}

// Folder is where the data and the logs are, until Stop.
func (l *Lab) Folder() string { return l.folder }

// Token is the admin token of the lab's service processes.
func (l *Lab) Token() string { return l.options.Token }

// Stop lets the services finish, ends everything and removes the folder. Close
// instances that use the lab first.
func (l *Lab) Stop(ctx context.Context) error {
	l.mu.Lock()
	if l.stopped {
		l.mu.Unlock()
		return nil
	}
	l.stopped = true
	closers := l.closers
	l.mu.Unlock()
	var ending errgroup.Group // they complete their purchases while the servers still run
	for _, p := range l.ServiceProcesses() {
		ending.Go(func() error { return p.Terminate(ctx) })
	}
	_ = ending.Wait() // what has not ended is killed
	if err := l.children.killAll(ctx); err != nil {
		return err
	}
	var errs []error
	for _, c := range closers {
		errs = append(errs, c())
	}
	errs = append(errs, os.RemoveAll(l.folder))
	l.children.dismissKeeper()
	return errors.Join(errs...)
}

// A Host is what a lab needs of its program's environment, which it does not
// read itself.
type Host struct {
	// Environ is passed on to service processes. Servers get a few of it; PATH,
	// JAVA_HOME and ZOOKEEPER_HOME say where they are looked for.
	Environ []string
	// Temp is the folder for temporary files, in which each lab makes its own.
	Temp string
}

// Getenv returns a variable of Environ; "" if it is not set.
func (h Host) Getenv(name string) (value string) {
	for _, entry := range h.Environ {
		if v, ok := strings.CutPrefix(entry, name+"="); ok {
			value = v // the last one counts
		}
	}
	return value
}

// ServersTime is the processor time that the private servers have used so far.
// It is not known if a backend runs elsewhere or inside this process, if a server
// has ended, and on systems other than Linux.
func (l *Lab) ServersTime() (sum time.Duration, known bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, status := range l.statuses {
		if status.OK && status.Tier != backend.Private {
			return 0, false
		}
	}
	for _, p := range l.processes {
		if p.server.backend == "" { // a service process
			continue
		}
		used, ok := processorTime(p.PID())
		if !ok {
			return 0, false
		}
		sum, known = sum+used, true
	}
	return sum, known
}
