// Package lab runs private servers and service processes in a folder of its own. When the program ends, even by a
// crash, no process and no file is left. If MySQL is not installed, SQLite in this process replaces it, and miniredis
// replaces a single Redis. No engine replaces other missing servers; their status says why they do not run.
package lab

import (
	"cmp"
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

// Options configure a lab. Only Host is required. If the other fields are zero, the lab starts a
// private server of every backend.
type Options struct {
	Host     Host
	Given    backend.Config   // addresses of backends that run already, which the lab does not start
	Backends []string         // the names of the backends; nil means all
	Embedded bool             // if true, use embedded engines even if servers are installed
	Topology string           // the arrangement of each backend's servers; "" means Single
	Programs map[Tool]Program // the programs of the servers; nil means that Start searches this machine for them
	// Volatile allows databases and ZooKeeper servers to flush their logs later than at COMMIT, which saves time. The
	// proof sets Volatile. Measurements must not.
	Volatile bool
	// Links puts a Relay between each service process and each private server. A Relay can cause network faults.
	Links       bool
	Token       string   // the admin token of the service processes; "" means a random token
	ServiceArgs []string // arguments that Serve adds to the command line of each service process
	// If OnWait is not nil, Start waits for backends of Given that do not answer yet, until ctx ends. Start calls
	// OnWait once for each such backend, perhaps concurrently. If OnWait is nil, Start does not wait.
	OnWait func(error)
}

// A Lab is a set of running backends and service processes.
type Lab struct {
	options    Options
	kinds      map[string]kind // by name
	topology   topology
	programs   map[Tool]Program
	children   *children
	folder     string
	executable string // the path of this program; service processes run the same program
	password   string // see logins.go

	adding chan struct{} // holds one element while a call of Add starts backends

	mu sync.Mutex
	state
}

// state is the part of a Lab that mu guards.
type state struct {
	config    backend.Config
	statuses  map[string]backend.Status
	ensembles map[string]*Ensemble // by the backend's name; only backends of which an experiment may kill a server
	processes []*Process
	links     map[linkKey]*Relay
	closers   []func() error
	serving   ServiceSettings
	stopped   bool
}

// Start starts a lab and waits until all its backends answer. If Start fails or ctx ends first, no process and no file
// of the lab is left.
func Start(ctx context.Context, o Options) (*Lab, error) {
	o.Topology = cmp.Or(o.Topology, Single)
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
	o.Token = cmp.Or(o.Token, rand.Text())
	l := &Lab{options: o, executable: executable, adding: make(chan struct{}, 1),
		password: rand.Text(),
		state: state{config: o.Given, statuses: map[string]backend.Status{}, ensembles: map[string]*Ensemble{},
			links: map[linkKey]*Relay{}}}
	l.config.Tiers = map[string]backend.Tier{}
	l.kinds = l.makeKinds()
	if l.topology, err = CheckTopology(o.Topology, o.Given); err != nil {
		return nil, err
	}
	if o.Embedded && o.Topology != Single {
		return nil, fmt.Errorf("topology %s needs real servers: start the lab without --embedded", o.Topology)
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

func (l *Lab) makeFolder() error {
	base, err := filepath.Abs(l.options.Host.Temp) // servers run in another folder, so their paths must be absolute
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

// Config returns the configuration with which backend.Open opens an instance on this lab.
func (l *Lab) Config() backend.Config {
	l.mu.Lock()
	defer l.mu.Unlock()
	c := l.config
	c.Tiers = maps.Clone(l.config.Tiers)
	return c
}

// Backends returns the lab's backends with address and version, or with the reason why they do not run.
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

// Process returns a private server or a service process by its name, such as redis or service-1.
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

// Folder returns the folder of the data and the logs. Stop removes it.
func (l *Lab) Folder() string { return l.folder }

// Token returns the admin token of the service processes.
func (l *Lab) Token() string { return l.options.Token }

// Stop lets the services finish their purchases, ends all processes and removes the folder.
// Instances that use the lab must be closed first.
func (l *Lab) Stop(ctx context.Context) error {
	l.mu.Lock()
	if l.stopped {
		l.mu.Unlock()
		return nil
	}
	l.stopped = true
	closers := l.closers
	l.mu.Unlock()
	var ending errgroup.Group // services need the servers to complete their purchases, so they end first
	for _, p := range l.ServiceProcesses() {
		ending.Go(func() error { return p.Terminate(ctx) })
	}
	_ = ending.Wait() // an error is no problem, because killAll kills the services that have not ended
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

// A Host is the part of the program's environment that a lab uses. A lab reads no environment itself.
type Host struct {
	// Environ is the whole environment of service processes; servers get only a few variables. The
	// lab reads PATH, JAVA_HOME and ZOOKEEPER_HOME to find the servers' programs.
	Environ []string
	// Temp is the folder in which each lab makes a folder of its own.
	Temp string
}

// Getenv returns a variable of Environ; "" if it is not set.
func (h Host) Getenv(name string) string {
	value := ""
	for _, entry := range h.Environ {
		if v, ok := strings.CutPrefix(entry, name+"="); ok {
			value = v // if a name occurs several times, the last entry counts
		}
	}
	return value
}

// ServersTime returns the processor time that the private servers have used so far. It returns false if it cannot know
// this time, because a backend is not private, a server has ended, or the system is not Linux.
func (l *Lab) ServersTime() (time.Duration, bool) {
	sum, known := time.Duration(0), false
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, status := range l.statuses {
		if status.OK && status.Tier != backend.Private {
			return 0, false
		}
	}
	for _, p := range l.processes {
		if p.server.backend == "" { // a service process does not count
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
