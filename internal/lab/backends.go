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
)

// Add starts those of the named backends that do not run yet. If another call of Add is starting backends, this call
// first waits until the other call has ended.
func (l *Lab) Add(ctx context.Context, names ...string) error {
	select {
	case l.adding <- struct{}{}: // only one call at a time starts backends, so none is started twice
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

// addBackend adds a backend at the address that the user has given. Without an address, it starts servers with a
// program on this machine, or else an embedded engine. If none of the three is possible, the status says why.
func (l *Lab) addBackend(ctx context.Context, name string) (backend.Status, error) {
	k, known := l.kinds[name]
	if !known {
		return backend.Status{}, fmt.Errorf("no backend is called %q: choose from %v", name, backend.Names())
	}
	program := l.programs[k.tool]
	switch {
	case len(k.In(l.options.Given)) > 0:
		return l.awaitGiven(ctx, k)
	case l.isArranged(name) && !program.Found():
		return backend.Status{}, fmt.Errorf("topology %s needs %s, and %w: %s",
			l.Topology(), k.Title, ErrNoServer, program.Missing())
	case program.Found() && !l.options.Embedded:
		return l.addPrivate(ctx, k, program)
	case k.embedded != nil:
		return k.embedded(ctx)
	}
	why := "there is no embedded engine for it: start the lab without --embedded"
	if !program.Found() {
		why = program.Missing()
	}
	return backend.Status{Name: name, Error: why}, nil
}

// addPrivate starts the servers of a backend, arranged as the topology says.
func (l *Lab) addPrivate(ctx context.Context, k kind, program Program) (backend.Status, error) {
	start := l.topology[k.Name]
	if start == nil {
		start = (*Lab).startAlike
	}
	e, err := start(l, ctx, k, program)
	if err == nil {
		e.setDefaults()
		err = e.repair(ctx)
	}
	if err != nil && l.isArranged(k.Name) {
		err = fmt.Errorf("start %s with topology %s: %w", k.Title, l.Topology(), err)
	}
	if err != nil {
		l.discardBackend(k.Name)
		return backend.Status{}, err
	}
	version := e.Nodes[0].version
	if l.isArranged(k.Name) {
		version += fmt.Sprintf(" (%s of %d)", l.Topology(), len(e.Nodes))
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(e.Roles) > 0 {
		l.ensembles[k.Name] = e
	}
	l.config = e.Config(l.config, nil)
	return backend.Status{Name: k.Name, Tier: backend.Private, OK: true, Version: version,
		Address: strings.Join(addresses(e.Nodes), ",")}, nil
}

// discardBackend ends the servers of a backend that could not be started completely. The next Add starts all of them.
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

// startAlike starts one or several independent servers of the same kind.
func (l *Lab) startAlike(ctx context.Context, k kind, program Program) (*Ensemble, error) {
	nodes, err := k.start(ctx, program, max(1, k.count))
	e := &Ensemble{Nodes: nodes}
	if len(nodes) > 1 {
		e.Roles = []string{AnyOne}
	}
	return e, err
}

func addresses(processes []*Process) []string {
	var addrs []string
	for _, p := range processes {
		addrs = append(addrs, p.Addr)
	}
	return addrs
}

// awaitGiven checks a backend that the user has given. If Options.OnWait is set, it repeats the check until success.
// The backend may still be starting, for example if Docker restarts the backend and this program at the same time.
func (l *Lab) awaitGiven(ctx context.Context, k kind) (backend.Status, error) {
	status, err := l.checkGiven(ctx, k)
	if err == nil || l.options.OnWait == nil {
		return status, err
	}
	l.options.OnWait(err)
	for ctx.Err() == nil {
		time.Sleep(300 * time.Millisecond)
		status, latest := l.checkGiven(ctx, k)
		if latest == nil {
			return status, nil
		}
		if ctx.Err() == nil { // keep the error, unless the end of ctx has interrupted the check
			err = latest
		}
	}
	return status, err
}

// checkGiven returns an error if a backend of Options.Given does not answer. Services check the same when they start.
func (l *Lab) checkGiven(ctx context.Context, k kind) (backend.Status, error) {
	ctx, cancel := context.WithTimeout(ctx, answerTimeout/3)
	defer cancel()
	given := l.options.Given.Only(k.Offers...)
	given.Tiers = map[string]backend.Tier{k.Name: backend.Given}
	return statusOf(ctx, given)
}

// statusOf opens an instance with one backend, and returns the status of this backend.
func statusOf(ctx context.Context, c backend.Config) (backend.Status, error) {
	in, err := backend.Open(ctx, c)
	if err != nil {
		return backend.Status{}, err
	}
	defer in.Close()
	return in.Status(ctx)[0], nil
}

// A kind says how the lab provides one kind of backend.
type kind struct {
	backend.Kind
	tool  Tool // the program of the servers
	start func(ctx context.Context, program Program, n int) ([]*Process, error)
	count int // the number of servers; 0 means one
	// embedded starts an engine in this process; nil if there is no such engine.
	embedded func(context.Context) (backend.Status, error)
	// address returns a private server's host:port with its password, in the form that the backend's flag expects,
	// such as a MySQL DSN.
	address func(addr string) string
}

func withoutLogin(addr string) string { return addr }

func (l *Lab) makeKinds() map[string]kind {
	redis := func(name string) func(context.Context, Program, int) ([]*Process, error) {
		return func(ctx context.Context, program Program, n int) ([]*Process, error) {
			return l.redisServers(ctx, program, n, name, name)
		}
	}
	all := map[string]kind{
		backend.NameMySQL: {tool: MariaDB, start: l.mysqlServers, embedded: l.addSQLite,
			address: func(addr string) string { return l.mysqlConfig(addr, "seckill").FormatDSN() }},
		backend.NameRedis: {tool: Redis, start: redis(backend.NameRedis), embedded: l.addMiniredis,
			address: l.redisURL},
		backend.NameRedlock:   {tool: Redis, start: redis(backend.NameRedlock), count: 5, address: l.redisURL},
		backend.NameZooKeeper: {tool: ZooKeeper, start: l.zookeeperServers, address: withoutLogin},
		backend.NameEtcd:      {tool: Etcd, start: l.etcdServers, address: withoutLogin},
	}
	for _, of := range backend.Kinds {
		k := all[of.Name]
		k.Kind = of
		all[of.Name] = k
	}
	return all
}

// setPrivate sets the addresses of the lab's own servers in c. The addresses include the passwords.
func (l *Lab) setPrivate(c *backend.Config, name string, addrs ...string) {
	k := l.kinds[name]
	var given []string
	for _, addr := range addrs {
		given = append(given, k.address(addr))
	}
	k.Set(c, given...)
}

// serverEnv returns the environment of private servers. It is small, so that no variable of the user, such as
// MYSQL_… or JAVA_TOOL_OPTIONS, changes a server. Temporary files are in the lab's folder.
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

func (l *Lab) newCommand(path string, args ...string) *exec.Cmd {
	cmd := exec.Command(path, args...)
	cmd.Env, cmd.Dir = l.serverEnv(), l.folder
	return cmd
}

func (l *Lab) addSQLite(ctx context.Context) (backend.Status, error) {
	file := filepath.Join(l.folder, "seckill.db")
	status, err := statusOf(ctx, backend.Config{SQLitePath: file})
	l.mu.Lock()
	defer l.mu.Unlock()
	l.config.SQLitePath = file
	return status, err
}

// addMiniredis runs a Redis inside this process. The quorum of five Redis nodes has no embedded engine, because
// the nodes of such a quorum would die together.
func (l *Lab) addMiniredis(context.Context) (backend.Status, error) {
	m := miniredis.NewMiniRedis()
	m.RequireAuth(l.password)
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
	return backend.Status{Name: backend.NameRedis, Tier: backend.Embedded, OK: true, Address: m.Addr(),
		Version: "miniredis"}, nil
}

// runClock makes keys expire, because miniredis has no clock.
func runClock(m *miniredis.Miniredis, stop <-chan struct{}) {
	ticks := time.Tick(10 * time.Millisecond)
	for last := time.Now(); ; {
		select {
		case now := <-ticks:
			m.FastForward(now.Sub(last))
			last = now
		case <-stop:
			return
		}
	}
}
