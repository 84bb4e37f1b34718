package main

import (
	"context"
	"io"
	"time"

	"seckill/internal/bench"
	"seckill/internal/catalog"
	"seckill/strategies/mysqllock"
	"seckill/strategies/redislock"
)

// BenchArticlesCmd repeats the experiments that the articles describe.
type BenchArticlesCmd struct {
	Rounds int           `default:"3" help:"How often everything is measured, in alternating order."`
	For    time.Duration `default:"1s" help:"How long one setting is measured at a time."`
	BenchFlags
}

func (c *BenchArticlesCmd) benchOptions() bench.Options {
	return bench.Options{Hold: 5 * time.Millisecond, Rounds: c.Rounds, For: c.For}
}

// Validate checks the flags.
func (c *BenchArticlesCmd) Validate() error {
	return c.checkBench(bench.ArticlesName, c.benchOptions())
}

func (c *BenchArticlesCmd) Run(ctx context.Context, stdout io.Writer, stderr stderrWriter) error {
	central, segmented, polling := mysqllock.LockTableCentral, mysqllock.LockTableSegmented, redislock.RedisLua
	return c.runBenchmark(ctx, stdout, stderr, c.benchOptions(), []catalog.Info{central, polling},
		func(o bench.Options) (measured, error) { return bench.RunArticles(ctx, o, central, segmented, polling) })
}
