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
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

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
	// Topology is one of Topologies; "" is Single.
	Topology string
	// Folder is where the lab makes a folder of its own. "" means the
	// system's folder for temporary files.
	Folder string
	// Volatile databases do not flush their log at every commit. They are for
	// exploring, not for measuring.
	Volatile bool
	// MySQLCerts let the private database speak TLS. The zero value leaves it as
	// the server is by itself.
	MySQLCerts Certs
	// Programs are the servers to use. Nil means those of this machine.
	Programs map[Tool]Program
	// Links has each service process reach each private server through a link of
	// its own, which faults of the network befall.
	Links bool
	// Token is the service processes' admin token. "" means a random one.
	Token string
	// ServiceArgs are further arguments of the service processes of Serve.
	ServiceArgs []string
}

// Certs are files (PEM): a server's certificate and its key.
type Certs struct{ Cert, Key string }

// A Lab is a set of running backends and service processes.
type Lab struct {
	options    Options
	kinds      map[string]kind // by their names
	topology   topology
	programs   map[Tool]Program
	supervisor *supervisor
	folder     string
	started    time.Time

	executable string // this program, which runs as supervisor and as services, too
	passwords  passwords
	ports      ports

	ensembles struct {
		mu  sync.Mutex
		all map[string]*Ensemble
	}

	mu        sync.Mutex
	config    backend.Config
	statuses  map[string]backend.Status
	groups    map[string]*Ensemble // backends of several servers, by the topology
	processes []*Process
	links     map[linkOf]*Relay
	closers   []func() error
	state     *announcement
	page      string // the argument of Announce; "": not announced
	serving   ServiceSettings
	unsure    bool          // some service processes may run with others
	died      func(Service) // see WhenServiceDies
	stopped   bool
}

// Start starts a lab and waits until everything in it answers. If it fails or ctx
// ends first, it leaves nothing behind.
func Start(ctx context.Context, o Options) (*Lab, error) {
	if o.Backends == nil {
		o.Backends = backend.Names()
	}
	if o.Folder == "" {
		o.Folder = o.Host.Temp
	}
	if o.Folder == "" {
		return nil, errors.New("no folder is given in which the lab can make its own")
	}
	absolute, err := filepath.Abs(o.Folder) // servers have another working folder
	if err != nil {
		return nil, fmt.Errorf("find the folder %s: %w", o.Folder, err)
	}
	o.Folder = absolute
	executable, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find this program's own file, to run it again: %w", err)
	}
	if o.Given.MySQLDSN != "" && o.Given.SQLitePath != "" {
		return nil, errors.New("both a MySQL address and a SQLite file are given: give one of them")
	}
	if o.Token == "" {
		o.Token = rand.Text()
	}
	l := &Lab{options: o, executable: executable, config: o.Given, passwords: makePasswords(), started: time.Now(), statuses: map[string]backend.Status{}, groups: map[string]*Ensemble{}}
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
	if err := l.open(ctx); err != nil {
		return nil, err
	}
	if err := l.Add(ctx, o.Backends...); err != nil {
		stopping, cancel := context.WithTimeout(context.WithoutCancel(ctx), 15*time.Second)
		defer cancel()
		return nil, errors.Join(err, l.Stop(stopping))
	}
	return l, nil
}

// maxSocket is what every system takes as the path of a Unix socket.
const maxSocket = 100

// open starts the supervisor, which makes the folder. Services take admin calls and
// faults at sockets in it.
func (l *Lab) open(ctx context.Context) (err error) {
	made := strings.Replace(folderPattern, "*", strconv.Itoa(math.MaxUint32), 1)
	if socket := filepath.Join(l.options.Folder, made, serviceName(MostServices)+".sock"); len(socket) > maxSocket {
		return fmt.Errorf("the path of %s is too long for the Unix sockets at which services take admin calls: name a shorter one with --folder or TMPDIR", l.options.Folder)
	}
	if l.supervisor, err = startSupervisor(l.executable); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	if err = l.supervisor.call(ctx, "MakeFolder", l.options.Folder, &l.folder); err != nil {
		l.supervisor.discard()
		return fmt.Errorf("make the lab's folder in %s: %w (name another place with --folder or TMPDIR)",
			l.options.Folder, err)
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
			if p.server.backend == name && status.OK && !p.Alive() && !l.groups[name].goesOn() {
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

// Lost is closed when the lab's supervisor has ended, and all its processes with
// it.
func (l *Lab) Lost() <-chan struct{} { return l.supervisor.lost }

// Stop lets the services finish, ends everything and removes the folder. Close
// instances that use the lab first.
func (l *Lab) Stop(ctx context.Context) error {
	l.mu.Lock()
	if l.stopped {
		l.mu.Unlock()
		return nil
	}
	l.stopped = true
	closers, state := l.closers, l.state
	l.mu.Unlock()
	errs := []error{state.withdraw()}
	err := l.supervisor.shutDown(ctx)
	errs = append(errs, err)
	for _, c := range closers {
		errs = append(errs, c())
	}
	if err == nil || errors.Is(err, errSupervisorLost) {
		errs = append(errs, os.RemoveAll(l.folder)) // a killed supervisor left it
	}
	return errors.Join(errs...)
}

// A Host is what a lab needs of its program's environment, which it does not
// read itself.
type Host struct {
	// Environ is passed on to service processes. Servers get a few of it; PATH,
	// JAVA_HOME and ZOOKEEPER_HOME say where they are looked for.
	Environ []string
	Temp    string // the folder for temporary files
	Cache   string // the user's folder for caches; "": there is none
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

// runFolders are where a lab may be announced, best first. SECKILL_STATE names
// another folder, for tests. The last one is for users without a home.
func (h Host) runFolders() []string {
	if folder := h.Getenv("SECKILL_STATE"); folder != "" {
		return []string{folder}
	}
	var folders []string
	if folder := h.Getenv("XDG_RUNTIME_DIR"); folder != "" {
		folders = append(folders, filepath.Join(folder, "seckill"))
	}
	if h.Cache != "" {
		folders = append(folders, filepath.Join(h.Cache, "seckill", "running"))
	}
	return append(folders, filepath.Join(h.Temp, fmt.Sprintf("seckill-%d", os.Getuid())))
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
