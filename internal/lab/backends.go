package lab

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/alicebob/miniredis/v2"
	"golang.org/x/sync/errgroup"

	"seckill/internal/backend"
	"seckill/internal/zkclient"
)

// Add starts the backends that are not there yet, concurrently. What another call is
// starting is waited for.
func (l *Lab) Add(ctx context.Context, names ...string) error {
	select {
	case l.adding <- struct{}{}: // of two callers that need one backend, one starts it
		defer func() { <-l.adding }()
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	l.mu.Lock()
	names = slices.DeleteFunc(slices.Clone(names), func(name string) bool {
		_, there := l.statuses[name]
		return there
	})
	l.mu.Unlock()
	starting, ctx := errgroup.WithContext(ctx)
	for _, name := range names {
		starting.Go(func() error {
			status, err := l.addBackend(ctx, name)
			if err != nil {
				return err
			}
			l.mu.Lock()
			defer l.mu.Unlock()
			l.statuses[name] = status
			if status.OK {
				l.config.Tiers[name] = status.Tier
			}
			return nil
		})
	}
	return starting.Wait()
}

// addBackend takes a backend, in this order, from an address that was given, a program
// of this machine, an embedded engine. Without any, the status says why.
func (l *Lab) addBackend(ctx context.Context, name string) (backend.Status, error) {
	k, known := l.kinds[name]
	if !known {
		return backend.Status{}, fmt.Errorf("no backend is called %q: choose from %v", name, backend.Names())
	}
	program := l.programs[k.tool]
	switch {
	case len(k.In(l.options.Given)) > 0:
		return l.awaitGiven(ctx, k)
	case l.IsArranged(name) && !program.Found():
		return backend.Status{}, fmt.Errorf("topology %s needs %s, and %w: %s", l.topology.name, k.Title, ErrNoServer, program.Missing())
	case program.Found() && !l.options.Embedded:
		return l.addPrivate(ctx, k, program)
	case k.embedded != nil:
		return k.embedded(ctx)
	}
	why := program.Missing()
	if program.Found() {
		why = "there is no embedded engine for it: start the lab without --embedded"
	}
	return backend.Status{Name: name, Error: why}, nil
}

// addPrivate starts a backend as the topology has it, or else its kind.
func (l *Lab) addPrivate(ctx context.Context, k kind, program Program) (backend.Status, error) {
	start := l.topology.start[k.Name]
	if start == nil {
		start = (*Lab).startAlike
	}
	e, err := start(l, ctx, k, program)
	if err != nil && l.IsArranged(k.Name) {
		err = fmt.Errorf("start %s with topology %s: %w", k.Title, l.topology.name, err)
	}
	if err != nil {
		l.discardBackend(k.Name)
		return backend.Status{}, err
	}
	e.setDefaults(k.Name)
	version := e.Nodes[0].version
	if l.IsArranged(k.Name) {
		version += fmt.Sprintf(" (%s of %d)", l.topology.name, len(e.Nodes))
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(e.Roles) > 0 {
		l.groups[k.Name] = e
	}
	l.config = e.Config(l.config, nil)
	return backend.Status{Name: k.Name, Tier: backend.Private, OK: true, Address: strings.Join(addrsOf(e.Nodes), ","), Version: version}, nil
}

// discardBackend ends the servers of a backend of which others could not be started, or that
// could not be arranged: the next Add starts all of them.
func (l *Lab) discardBackend(name string) {
	l.mu.Lock()
	var started []*Process
	l.processes = slices.DeleteFunc(l.processes, func(p *Process) bool {
		if p.server.backend != name {
			return false
		}
		started = append(started, p)
		return true
	})
	l.mu.Unlock()
	killAll(started)
}

// startAlike are servers that know nothing of each other.
func (l *Lab) startAlike(ctx context.Context, k kind, program Program) (*Ensemble, error) {
	nodes, err := k.start(ctx, program, max(1, k.count))
	e := &Ensemble{Nodes: nodes}
	if len(nodes) > 1 {
		e.Roles = []string{AnyOne}
	}
	return e, err
}

func addrsOf(processes []*Process) (addrs []string) {
	for _, p := range processes {
		addrs = append(addrs, p.Addr)
	}
	return addrs
}

// awaitGiven asks a backend that was given until it can be used: it may be starting, as
// all containers of a composition are when they are restarted together.
func (l *Lab) awaitGiven(ctx context.Context, k kind) (backend.Status, error) {
	status, err := l.checkGiven(ctx, k)
	if err == nil || l.options.OnWait == nil {
		return status, err
	}
	l.options.OnWait(err)
	for ctx.Err() == nil {
		time.Sleep(askGivenEvery)
		status, now := l.checkGiven(ctx, k)
		if now == nil {
			return status, nil
		}
		if ctx.Err() == nil { // an interrupted question says nothing of the backend
			err = now
		}
	}
	return status, err
}

// checkGiven makes sure that a backend that was given answers, as a service asks when it
// starts: the lab cannot run without what was asked for by its address.
func (l *Lab) checkGiven(ctx context.Context, k kind) (backend.Status, error) {
	ctx, cancel := context.WithTimeout(ctx, answerLimit/3)
	defer cancel()
	given := l.options.Given.Only(k.Offers...)
	given.Tiers = map[string]backend.Tier{k.Name: backend.Given}
	in, err := backend.Open(ctx, given)
	if err != nil {
		return backend.Status{}, err
	}
	defer in.Close()
	return in.Status(ctx)[0], nil
}

// A kind says how the lab provides one of backend.Kinds.
type kind struct {
	backend.Kind
	tool Tool // the program it runs on
	// start starts so many private servers.
	start func(ctx context.Context, program Program, n int) ([]*Process, error)
	count int // of servers that it has; 0: one
	// embedded starts an engine in this process; nil: there is none.
	embedded func(context.Context) (backend.Status, error)
	// ask asks a server that votes for its version, and whether it leads; nil: they do not.
	ask asking
	// address is a private server's host:port in the form of the flags; nil: the same.
	address func(addr string) string
}

// makeKinds is the lab's one table of backends.
func (l *Lab) makeKinds() map[string]kind {
	redis := func(name string) func(context.Context, Program, int) ([]*Process, error) {
		return func(ctx context.Context, program Program, n int) ([]*Process, error) {
			return l.redisServers(ctx, program, n, name, name)
		}
	}
	all := map[string]kind{
		backend.NameMySQL: {tool: MariaDB, start: l.mysqlServers, embedded: l.addSQLite,
			address: func(addr string) string { return l.mysqlDSN(addr, "seckill") }},
		backend.NameRedis:     {tool: Redis, start: redis(backend.NameRedis), embedded: l.addMiniredis, address: l.redisURL},
		backend.NameRedlock:   {tool: Redis, start: redis(backend.NameRedlock), count: 5, address: l.redisURL},
		backend.NameZooKeeper: {tool: ZooKeeper, start: l.zookeeperServers, ask: zkclient.AskServer},
		backend.NameEtcd:      {tool: Etcd, start: l.etcdServers, ask: askEtcd},
	}
	for _, of := range backend.Kinds {
		k := all[of.Name]
		k.Kind = of
		all[of.Name] = k
	}
	return all
}

// setPrivate enters the lab's own servers into a configuration.
func (l *Lab) setPrivate(c *backend.Config, name string, addrs ...string) {
	k := l.kinds[name]
	addresses := make([]string, len(addrs))
	for i, addr := range addrs {
		addresses[i] = k.login(addr)
	}
	k.Set(c, addresses...)
}

// login is a private server's host:port with its password, in the form of the flags.
func (k kind) login(addr string) string {
	if k.address == nil {
		return addr
	}
	return k.address(addr)
}

// serverEnv is small, so that no ETCD_…, MYSQL_… or JAVA_TOOL_OPTIONS of the
// user changes a private server. Its temporary files are in the lab's folder.
func (l *Lab) serverEnv() []string {
	env := []string{"LC_ALL=C", "HOME=" + l.folder, "TMPDIR=" + l.folder,
		"ETCD_UNSUPPORTED_ARCH=" + runtime.GOARCH} // otherwise etcd 3.4 refuses ARM
	for _, name := range []string{"PATH", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH"} {
		if value := l.options.Host.Getenv(name); value != "" {
			env = append(env, name+"="+value)
		}
	}
	return env
}

// newCommand runs a server.
func (l *Lab) newCommand(path string, args ...string) *exec.Cmd {
	cmd := exec.Command(path, args...)
	cmd.Env, cmd.Dir = l.serverEnv(), l.folder
	return cmd
}

func (l *Lab) addSQLite(ctx context.Context) (backend.Status, error) {
	file := filepath.Join(l.folder, "seckill.db")
	in, err := backend.Open(ctx, backend.Config{SQLitePath: file})
	if err != nil {
		return backend.Status{}, err
	}
	defer in.Close()
	status := in.Status(ctx)[0]
	l.mu.Lock()
	defer l.mu.Unlock()
	l.config.SQLitePath = file
	return status, nil
}

// addMiniredis runs a Redis inside this process. There is no embedded quorum: its
// five nodes would die together.
func (l *Lab) addMiniredis(context.Context) (backend.Status, error) {
	m := miniredis.NewMiniRedis()
	m.RequireAuth(l.passwords.redis)
	if err := m.Start(); err != nil {
		return backend.Status{}, fmt.Errorf("start the embedded Redis: %w", err)
	}
	stop := make(chan struct{})
	go runClock(m, stop)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closers = append(l.closers, func() error {
		close(stop)
		m.Close()
		return nil
	})
	l.config.RedisAddrs = []string{l.redisURL(m.Addr())}
	return backend.Status{Name: backend.NameRedis, Tier: backend.Embedded, Address: m.Addr(), Version: "miniredis", OK: true}, nil
}

// runClock makes keys expire: miniredis has no clock of its own.
func runClock(m *miniredis.Miniredis, stop <-chan struct{}) {
	ticks := time.NewTicker(10 * time.Millisecond)
	defer ticks.Stop()
	for last := time.Now(); ; {
		select {
		case <-ticks.C:
			now := time.Now()
			m.FastForward(now.Sub(last))
			last = now
		case <-stop:
			return
		}
	}
}
