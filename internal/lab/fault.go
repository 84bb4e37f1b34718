package lab

import (
	"context"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"seckill/internal/backend"
	"seckill/internal/fault"
	"seckill/internal/fault/point"
)

// A FaultStatus says whether a fault can be injected here.
type FaultStatus struct {
	Kind      fault.Name  `json:"kind"`
	Available bool        `json:"available"`
	Missing   string      `json:"missing"`        // why not, in English,
	Lack      *fault.Lack `json:"lack,omitempty"` // and by a code
	Holder    bool        `json:"holder"`         // it waits for the holder of a lock
	Service   bool        `json:"service"`        // it hits the service process that is named
	Lasts     bool        `json:"lasts"`          // it ends by itself
	Uses      string      `json:"uses,omitempty"` // it matters only where this backend is used
}

// Faults are all faults, also those that are not available here.
func (l *Lab) Faults() (list []FaultStatus) {
	for _, f := range fault.All {
		why := f.Missing(harmed{l})
		list = append(list, FaultStatus{f.Name, why == nil, why.String(), why, f.Holder, !f.Holder && !f.Everywhere, f.Lasts, f.Uses})
	}
	return list
}

// Inject injects a fault into real processes and returns when it has happened or
// cannot happen. Faults may overlap; those of one process are sequential.
func (l *Lab) Inject(ctx context.Context, name fault.Name, aim fault.Aim) (*fault.Injection, error) {
	f, err := fault.Find(name)
	if err != nil {
		return nil, err
	}
	return f.Inject(ctx, harmed{l}, aim)
}

// harmed is a lab as a fault sees it.
type harmed struct{ lab *Lab }

func (h harmed) Services() (list []fault.Process) {
	for _, p := range h.lab.serviceProcesses() {
		list = append(list, victim{p})
	}
	return list
}

// Server finds a server that may be broken: only the lab's own may.
func (h harmed) Server(name string) (fault.Process, *fault.Lack) {
	of := map[string]any{"name": name}
	h.lab.mu.Lock()
	status := h.lab.statuses[name]
	h.lab.mu.Unlock()
	if h.lab.isArranged(name) {
		// One of several would be hit, and most sales would not notice.
		return nil, fault.NewLack(fault.LackCluster, of, "%s is several servers here, and this fault is of one: start the lab with --topology single", name)
	}
	switch status.Tier {
	case backend.Private:
		p, err := h.lab.Process(name)
		if err != nil {
			return nil, fault.NewLack(fault.LackServer, of, "%v", err)
		}
		return victim{p}, nil
	case backend.Given:
		of["address"] = status.Address
		return nil, fault.NewLack(fault.LackGiven, of, "%s at %s was given, and is not the lab's to break", name, status.Address)
	case backend.Embedded:
		return nil, fault.NewLack(fault.LackEmbedded, of, "%s is embedded in the lab: install a server, and start the lab without --embedded", name)
	}
	return nil, fault.NewLack(fault.LackServer, of, "the lab has no %s", name)
}

// Group finds servers of which one leads: the lab's topology has started them.
func (h harmed) Group(name string) (fault.Group, *fault.Lack) {
	topology, known := groups[name]
	if !known {
		topology = Ensembles
	}
	if e := h.lab.group(name); e != nil && h.lab.options.Topology == topology {
		return group{e}, nil
	}
	return nil, fault.NewLack(fault.LackTopology, map[string]any{"name": name, "topology": topology},
		"%s is not several servers here as the fault needs them: start the lab with --topology %s", name, topology)
}

// groups are the topologies of those whose servers do not vote.
var groups = map[string]string{backend.NameRedis: Sentinel, backend.NameMySQL: Galera}

// group is an ensemble as a fault sees it.
type group struct{ e *Ensemble }

func (g group) Whole() bool {
	return !slices.ContainsFunc(g.e.Nodes, func(p *Process) bool { return !p.Alive() })
}

func (g group) Leader(ctx context.Context) (fault.Process, error) {
	p, err := g.e.Node(ctx, g.e.Roles[0])
	if err != nil {
		return nil, err
	}
	return victim{p}, nil
}

func (g group) Lag(ctx context.Context) error { return g.e.Lag(ctx) }

func (g group) Lose(ctx context.Context, leader fault.Process) error {
	return g.e.Lose(ctx, leader.(victim).Process)
}

func (g group) Heal(ctx context.Context) error {
	give, err := g.e.Take(ctx)
	if err == nil {
		give()
	}
	return err
}

// Shard finds a shard of the ring, and says why there is none.
func (h harmed) Shard(ctx context.Context, address string) (fault.Process, error) {
	s := h.shards()
	var p *Process
	var err error
	if address != "" {
		p, err = s.at(address)
	} else {
		p, err = s.busiest(ctx)
	}
	if err != nil {
		return nil, err
	}
	return victim{p}, nil
}

// shards is the lab's ring; nil if there is none.
func (h harmed) shards() *shards {
	if e := h.lab.group(backend.NameRedis); e != nil {
		s, _ := e.kind.(*shards)
		return s
	}
	return nil
}

func (h harmed) NoShards() *fault.Lack {
	if h.shards() != nil {
		return nil
	}
	return fault.NewLack(fault.LackTopology, map[string]any{"name": backend.NameRedis, "topology": Ring},
		"Redis is not shards here: start the lab with --topology %s", Ring)
}

func (h harmed) NoPoints() *fault.Lack { return h.lab.NoFaultPoints() }

const redisMark = "seckill:lab:mark"

func (h harmed) MarkRedis(ctx context.Context) error {
	return h.onRedis(ctx, func(in *backend.Instance) error { return in.Redis.Set(ctx, redisMark, 1, 0).Err() })
}

func (h harmed) RedisMarked(ctx context.Context) (there bool, err error) {
	err = h.onRedis(ctx, func(in *backend.Instance) error {
		n, err := in.Redis.Exists(ctx, redisMark).Result()
		there = n > 0
		return err
	})
	return there, err
}

func (h harmed) onRedis(ctx context.Context, do func(*backend.Instance) error) error {
	c := h.lab.Config()
	in, err := backend.Open(ctx, c.Only(backend.Redis))
	if err != nil {
		return err
	}
	defer in.Close()
	return do(in)
}

// victim is a process as a fault sees it.
type victim struct{ *Process }

func (v victim) Lock()           { v.harm.Lock() }
func (v victim) Unlock()         { v.harm.Unlock() }
func (v victim) Title() string   { return v.Name }
func (v victim) Address() string { return v.Addr }
func (v victim) Run() any        { return v.current() }
func (v victim) Stands() bool    { return standsStill(v.PID()) }

func (v victim) Points() *point.Client {
	addr := v.lab.adminAddr(v.Name)
	if addr == "" || v.server.backend != "" {
		return nil
	}
	return point.NewClient(addr)
}

// longestSocket is what every system takes as the path of a Unix socket.
const longestSocket = 100

// adminAddr is where a service takes admin calls: a socket in the lab's folder,
// which only this user can reach. "": the folder's path is too long.
func (l *Lab) adminAddr(service string) string {
	if !fitsSocket(l.folder) {
		return ""
	}
	return "unix:" + filepath.Join(l.folder, service+".sock")
}

// fitsSocket reports whether services can have sockets in a lab's folder.
func fitsSocket(folder string) bool {
	return len(filepath.Join(folder, serviceName(MostServices)+".sock")) <= longestSocket
}

// RoomForSockets reports whether services of a lab whose folder is made in base
// can have fault points.
func RoomForSockets(base string) bool {
	return fitsSocket(filepath.Join(base, strings.Replace(folderPattern, "*", strconv.Itoa(math.MaxUint32), 1)))
}

// NoFaultPoints says why the lab's services have no fault points, which faults of
// a lock's holder need; nil: they have.
func (l *Lab) NoFaultPoints() *fault.Lack {
	if fitsSocket(l.folder) {
		return nil
	}
	base := filepath.Dir(l.folder)
	return fault.NewLack(fault.LackSocket, map[string]any{"folder": base},
		"the path of the folder %s is too long for the Unix sockets at which services take faults: give a shorter one (seckill up --folder)", base)
}
