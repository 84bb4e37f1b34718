package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"seckill/internal/backend"
	"seckill/internal/catalog"
	"seckill/loadtest"
	"seckill/loadtest/compare"
)

// compare holds the sale of o with each of the chosen strategies, beside the
// floors of this place.
func (p *place) compare(ctx context.Context, chosen []catalog.Info, o compare.Options) *compare.Result {
	var names []string
	for _, i := range chosen {
		o.Contenders = append(o.Contenders, compare.Contender{Name: i.Name, Title: i.Title, Family: i.Family,
			Breaks: i.BreaksIn(len(o.Sale.Targets))})
		names = append(names, i.Name)
	}
	o.Sparse = compare.Claimed(names)
	floors, settings, problem := p.floors(ctx, o.Sale)
	o.Floors = floors
	result := compare.Run(ctx, o)
	result.Version, result.Durability = buildVersion(), settings
	if problem != nil {
		result.Problems = append(result.Problems, problem.Error())
	}
	return result
}

// floors opens what the floors are measured on; what cannot be opened is a
// problem of the report, and no reason not to compare.
func (p *place) floors(ctx context.Context, sale loadtest.Config) (
	all []compare.Floor, settings []compare.Setting, problem error,
) {
	settings = []compare.Setting{}
	bare, stop, err := compare.ServeHTTPFloor(sale)
	if err != nil {
		problem = fmt.Errorf("the floors: %w", err)
	} else {
		p.closers = append(p.closers, stop)
		all = append(all, bare)
	}
	in, err := backend.Open(ctx, backend.Config{MySQLDSN: p.sql.MySQLDSN, SQLitePath: p.sql.SQLitePath,
		RedisAddrs:  p.sql.RedisAddrs,
		MaxSQLConns: max(sale.Concurrency, 2)})
	if err != nil {
		return all, settings, errors.Join(problem, fmt.Errorf("the floors: %w", err))
	}
	p.closers = append(p.closers, func() { _ = in.Close() })
	servers, drop := compare.ServerFloors(ctx, in, sale.Concurrency)
	p.closers = append(p.closers, func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
		defer cancel()
		_ = drop(ctx) // the database may be gone
	})
	return append(all, servers...), compare.Durability(ctx, in), problem
}
