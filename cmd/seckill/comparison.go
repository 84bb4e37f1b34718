package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"seckill/internal/backend"
	"seckill/internal/catalog"
	"seckill/internal/measure"
	"seckill/loadtest"
	"seckill/loadtest/compare"
)

// compare runs the sale of o with each of the chosen strategies, and the
// baselines of this place.
func (p *place) compare(ctx context.Context, chosen []catalog.Info, o compare.Options) *compare.Result {
	var names []string
	for _, i := range chosen {
		o.Candidates = append(o.Candidates, compare.Candidate{Name: i.Name, Title: i.Title, Family: i.Family,
			Breaks: i.BreaksIn(len(o.Sale.Targets)), Hangs: i.Hangs()})
		names = append(names, i.Name)
	}
	o.Sale.ServersTime = p.serversTime
	o.Sparse = compare.Claimed(names)
	baselines, durability, problem := p.baselines(ctx, o.Sale)
	o.Baselines = baselines
	result := compare.Run(ctx, o)
	result.Version, result.Durability = buildVersion(), durability
	if problem != nil {
		result.Problems = append(result.Problems, problem.Error())
	}
	return result
}

// baselines opens what the baselines are measured on. A server that cannot be
// opened is a problem in the report; the comparison runs without it.
func (p *place) baselines(ctx context.Context, sale loadtest.Config) (
	all []compare.Baseline, durability []measure.ServerSetting, problem error,
) {
	durability = []measure.ServerSetting{}
	bare, stop, err := compare.ServeHTTPBaseline(sale)
	if err != nil {
		problem = fmt.Errorf("the baselines: %w", err)
	} else {
		p.closers = append(p.closers, stop)
		all = append(all, bare)
	}
	config := p.sql.Only(backend.SQL, backend.Redis)
	config.MaxSQLConns = max(sale.Concurrency, 2)
	in, err := backend.Open(ctx, config)
	if err != nil {
		return all, durability, errors.Join(problem, fmt.Errorf("the baselines: %w", err))
	}
	p.closers = append(p.closers, func() { _ = in.Close() })
	servers, drop := compare.ServerBaselines(ctx, in, sale.Concurrency)
	p.closers = append(p.closers, func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
		defer cancel()
		_ = drop(ctx) // the database may be gone
	})
	return append(all, servers...), measure.Durability(ctx, in), problem
}
