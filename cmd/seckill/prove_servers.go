package main

import (
	"context"
	"errors"
	"sync"
	"time"

	"seckill/internal/backend"
	"seckill/internal/catalog"
	"seckill/internal/lab"
	"seckill/internal/prove"
)

// provers is the lab of one worker.
type provers struct {
	*lab.Lab
	losing *ensembles
	// ownRedis: the topology has servers of Redis that can be lost.
	ownRedis bool
}

func (p provers) Close() error { return stopLab(p.Lab) }

// Ensemble is one for all workers, but for what the topology has: it would be a
// dozen servers for each.
func (p provers) Ensemble(ctx context.Context, name string) (*lab.Ensemble, error) {
	if p.ownRedis && name == backend.NameRedis {
		return p.Lab.Ensemble(ctx, name)
	}
	return p.losing.start(ctx, name)
}

func stopLab(l *lab.Lab) error {
	ctx, cancel := context.WithTimeout(context.Background(), 15*time.Second)
	defer cancel()
	return l.Stop(ctx)
}

// ensembles is a lab of servers that nodes are lost of. It is started when the
// first is asked for.
type ensembles struct {
	mu  sync.Mutex
	lab *lab.Lab
}

func (e *ensembles) start(ctx context.Context, name string) (*lab.Ensemble, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.lab == nil {
		l, err := lab.Start(ctx, lab.Options{Host: host(), Backends: []string{}})
		if err != nil {
			return nil, err
		}
		e.lab = l
	}
	return e.lab.Ensemble(ctx, name)
}

func (e *ensembles) stop() {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.lab != nil {
		_ = stopLab(e.lab) // the supervisor goes on ending what has not ended yet
	}
}

func (c *ProveCmd) servers(ctx context.Context, p provingPlace, infos []catalog.Info, losing *ensembles) (prove.Servers, error) {
	needs := []backend.Capability{backend.SQL}
	for _, i := range infos {
		needs = append(needs, i.Needs...)
	}
	l, err := lab.Start(ctx, lab.Options{Host: host(), Backends: backend.NamesOf(needs...), Volatile: true, Topology: p.topology, Given: backend.Config{MySQLDSN: p.dsn}})
	if err != nil {
		return nil, err
	}
	for _, s := range l.Backends() {
		if s.Name == backend.NameMySQL && (!s.OK || s.Tier == backend.Embedded) {
			return nil, errors.Join(errors.New("a proof needs a real MySQL or MariaDB: install one (seckill doctor says how), or give --mysql-dsn"),
				stopLab(l))
		}
	}
	return provers{l, losing, p.topology == lab.Sentinel || p.topology == lab.Ring}, nil
}
