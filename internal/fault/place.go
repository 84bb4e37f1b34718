package fault

import (
	"context"
	"fmt"
	"slices"

	"seckill/internal/backend"
	"seckill/internal/fault/point"
	"seckill/internal/lab"
)

// A scene is where a fault happens.
type scene struct {
	lab *lab.Lab
	aim Aim
	// process comes to harm; its Harm is locked until that is done.
	process *lab.Process
	servers *lab.Ensemble // of which process is one, where one leads
	caught  string        // the number of the trap that a purchase is in
	seen    Effect        // just before
}

// A place is what a fault can befall.
type place struct {
	// missing says why there is none in a lab; nil: there is.
	missing func(*lab.Lab) *Lack
	// find finds the process, and locks it. Without a process there was no
	// purchase to catch, and seen says why.
	find func(context.Context, *scene) error
}

func nothing(*lab.Lab) *Lack { return nil }

// service is the process that is named.
var service = place{
	missing: nothing,
	find: func(_ context.Context, s *scene) error {
		all := s.lab.ServiceProcesses()
		if s.aim.Service < 1 || s.aim.Service > len(all) {
			return fmt.Errorf("there is no service process %d: the lab runs %d", s.aim.Service, len(all))
		}
		p := all[s.aim.Service-1]
		p.Harm.Lock()
		if !p.Alive() {
			p.Harm.Unlock()
			return fmt.Errorf("%s is dead already", p.Name)
		}
		s.process = p
		return nil
	}}

// server is the only one of a backend.
func server(name string) place {
	return place{
		missing: func(l *lab.Lab) *Lack { return notOurs(l, name) },
		find: func(_ context.Context, s *scene) (err error) {
			return s.lock(s.lab.Process(name))
		}}
}

// notOurs says why a server may not be broken: only the lab's own may.
func notOurs(l *lab.Lab, name string) *Lack {
	of := map[string]any{"name": name}
	if l.IsArranged(name) { // one of several would be hit, and most sales would not notice
		return NewLack(LackCluster, of, "%s is several servers here, and this fault is of one: start the lab with --topology single", name)
	}
	all := l.Backends()
	i := slices.IndexFunc(all, func(s backend.Status) bool { return s.Name == name })
	if i < 0 || all[i].Tier == "" {
		return NewLack(LackServer, of, "the lab has no %s", name)
	}
	switch all[i].Tier {
	case backend.Given:
		of["address"] = all[i].Address
		return NewLack(LackGiven, of, "%s at %s was given, and is not the lab's to break", name, all[i].Address)
	case backend.Embedded:
		return NewLack(LackEmbedded, of, "%s is embedded in the lab: install a server, and start the lab without --embedded", name)
	}
	return nil
}

// leader is the one of several that leads, which a topology has started.
func leader(name, topology string) place {
	return place{
		missing: func(l *lab.Lab) *Lack {
			if l.Topology() == topology && l.Group(name) != nil {
				return nil
			}
			return NewLack(LackTopology, map[string]any{"name": name, "topology": topology},
				"%s is not several servers here as the fault needs them: start the lab with --topology %s", name, topology)
		},
		find: func(ctx context.Context, s *scene) error {
			s.servers = s.lab.Group(name)
			return s.lock(s.servers.Leader(ctx))
		}}
}

// shard is the Redis, of several that divide the keys, at an address or to which
// most commands go.
var shard = place{
	missing: func(l *lab.Lab) *Lack {
		if l.Topology() == lab.Ring || l.Topology() == lab.RingRehash {
			return nil
		}
		return NewLack(LackTopology, map[string]any{"name": backend.NameRedis, "topology": lab.Ring},
			"Redis is not shards here: start the lab with --topology %s", lab.Ring)
	},
	find: func(ctx context.Context, s *scene) error {
		return s.lock(s.lab.Group(backend.NameRedis).Shard(ctx, s.aim.Shard))
	}}

// holder is the process that has a purchase at a point.
func holder(at point.Name) place {
	return place{missing: nothing, find: func(ctx context.Context, s *scene) error { return s.catch(ctx, at) }}
}

func (s *scene) lock(p *lab.Process, err error) error {
	if err != nil {
		return err
	}
	p.Harm.Lock()
	s.process = p
	return nil
}

// points are those of a service process.
func points(p *lab.Process) *point.Client { return point.NewClient(p.AdminAddr()) }

func noAdministrator(l *lab.Lab) *Lack {
	if _, ok := l.AdminDSN(); ok {
		return nil
	}
	return NewLack(LackMariaDB, nil, "only of MariaDB does the lab have an administrator's account: install mariadb-server")
}

// noLink says why what a service process sends to a server cannot be held back.
func noLink(name string) func(*lab.Lab) *Lack {
	return func(l *lab.Lab) *Lack {
		if why := notOurs(l, name); why != nil || l.Link(1, name) != nil {
			return why
		}
		return NewLack(LackLink, map[string]any{"name": name},
			"service processes of this lab reach %s directly: seckill chaos starts one with links in between", name)
	}
}
