package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"seckill/internal/backend"
	"seckill/internal/catalog"
	"seckill/internal/measure"
	"seckill/loadtest/compare"
)

// compare runs the sale of o with each of the chosen strategies, and baselines of
// this place.
func (p *place) compare(ctx context.Context, chosen []catalog.Info, baselines []string, o compare.Options) *compare.Result {
	var names []string
	for _, i := range chosen {
		o.Candidates = append(o.Candidates, compare.Candidate{Name: i.Name, Title: i.Title, Family: i.Family,
			Breaks: i.BreaksIn(len(o.Sale.Targets)), Hangs: i.Hangs()})
		names = append(names, i.Name)
	}
	o.Sale.ServersTime = p.serversTime
	o.Sparse = compare.Claimed(names)
	var durability []measure.ServerSetting
	var problem error
	o.Baselines, durability, problem = p.baselines(ctx, baselines, o)
	result := compare.Run(ctx, o)
	result.Version, result.Durability = buildVersion(), durability
	if problem != nil {
		result.Problems = append(result.Problems, problem.Error())
	}
	return result
}

// baselines opens what the baselines are measured on. A server that cannot be
// opened is a problem in the report; the comparison runs without it.
func (p *place) baselines(ctx context.Context, ids []string, o compare.Options) (
	all []compare.Baseline, durability []measure.ServerSetting, problem error,
) {
	durability = []measure.ServerSetting{}
	config := p.sql.Only(backend.SQL, backend.Redis)
	config.MaxSQLConns = min(slices.Max(append(o.Crowds, o.Sale.Concurrency, 2)), mostBaselineConns)
	in, err := backend.Open(ctx, config)
	if err == nil {
		p.closers = append(p.closers, func() { _ = in.Close() })
		durability = measure.Durability(ctx, in)
	} else {
		problem = fmt.Errorf("the baselines: %w", err)
		in = nil
	}
	all, stop, err := compare.OpenBaselines(ctx, ids, o.Sale, in)
	if err != nil {
		return nil, durability, errors.Join(problem, fmt.Errorf("the baselines: %w", err))
	}
	p.closers = append(p.closers, func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
		defer cancel()
		_ = stop(ctx) // the database may be gone
	})
	return all, durability, problem
}

// mostBaselineConns: with more connections than this a bare UPDATE is slower.
const mostBaselineConns = 256
