package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"time"

	"seckill/internal/catalog"
	"seckill/loadtest"
	"seckill/loadtest/compare"
	"seckill/strategies"
)

// CompareCmd runs the same sale with one strategy after the other.
type CompareCmd struct {
	HelpAll    helpAll  `help:"${HelpAll}"`
	Target     []string `help:"Addresses of service processes, by comma. Default: the running lab, else one started for this run." placeholder:"URL,…"`
	Strategies []string `default:"all" help:"Strategies by comma, or all." placeholder:"NAME"`

	Stock       int64    `default:"${ComparedStock}" help:"Units for sale." group:"sale"`
	Buyers      int      `default:"${ComparedBuyers}" help:"Distinct users, one purchase each." group:"sale"`
	Concurrency int      `default:"${ComparedConcurrency}" help:"Buyers at a time." group:"sale"`
	Few         int      `default:"${CompareFew}" help:"Buyers at a time in a second run of the strategies that the articles' statements are about; 0: no such run." group:"sale"`
	Crowds      []int    `help:"Further numbers of buyers at a time, by comma, such as 1,16,256: all strategies run with these, too." group:"sale" placeholder:"N,…"`
	Baselines   []string `default:"gin,redis_incr,hot_row,transaction" help:"Baselines by comma, all or none: work without a strategy, measured in the same rounds with the same numbers of buyers." group:"sale" placeholder:"NAME,…"`
	Quantity    int64    `default:"${ComparedQuantity}" help:"Units that each buyer asks for." group:"sale"`
	loadtest.Buying

	SKU     int64         `name:"sku" default:"${ComparedSKU}" help:"The SKU that is sold." group:"sale"`
	Timeout time.Duration `default:"${ComparedTimeout}" help:"A buyer gives up after this long." group:"sale"`
	Seed    *uint64       `help:"Repeats the same buyers in the same order. Default: a new seed each time." group:"sale" placeholder:"N"`

	Repeats int           `default:"${CompareRepeats}" help:"Rounds; every other one runs backwards." group:"rounds"`
	Turn    time.Duration `default:"${CompareTurn}" help:"In its turn a strategy repeats the sale until so much was measured, at least once." group:"rounds"`

	Against string  `placeholder:"FILE" help:"A result of --json to compare with." group:"older"`
	Limit   float64 `default:"20" help:"Fail if a strategy is slower than in --against by more than so many percent." group:"older"`

	CompareOutput
	PlaceFlags // the database is also where the baselines are measured

	chosen []catalog.Info
	sale   loadtest.Scenario
	older  *compare.Result
}

// Help is what seckill compare --help says below its flags.
func (CompareCmd) Help() string {
	return fmt.Sprintf(`Each strategy is also shown as a ratio to baselines, measured in the same rounds with as many buyers at a time:
  gin          a bare gin handler that reads the same request and writes the same answer
  gin_script   the handler with one Redis script that takes a unit
  gin_insert   the handler with DECR in Redis and an INSERT of the order
  redis_incr   INCR of one key, without HTTP
  hot_row      UPDATE of one row, each committed by itself, without HTTP
  transaction  the statements of the strategy conditional, without HTTP

What a hot row sells: seckill compare --strategies conditional,merged --crowds 1,64,512 --baselines all --stock 5000 --buyers 5500

--against compares ratios to a baseline if both results have one, because the speed of a machine varies from day to day;
otherwise rates.

Exit status: %d correct strategies held and broken ones were caught, %d one that must hold oversold, %d one lost or undersold,
%d one stood still while buyers asked, %d a broken one was not caught, %d slower than --against by more than --limit, or
another verdict, %d interrupted, or a run was not valid, %d the result could not be written where it should be (the message
names the file that has it, or it is on standard output), %d wrong command line.`,
		compare.ExitAsKnown, compare.ExitOversold, compare.ExitLost, compare.ExitBlocked, compare.ExitMissed,
		compare.ExitChanged, compare.ExitNotValid, statusFailed, statusUsage)
}

// Validate finds what is wrong with the flags and the files they name.
func (c *CompareCmd) Validate() (err error) {
	if c.chosen, err = chosenStrategies(c.Strategies); err != nil {
		return err
	}
	switch {
	case c.Few < 0 || c.Few > c.Concurrency && c.Few != compare.DefaultOptions().Few:
		return errors.New("--few must be from 0 (no such run) to less than --concurrency")
	case c.Repeats < 1 || c.Repeats > 100:
		return errors.New("--repeats must be 1 to 100")
	case c.Turn < 0 || c.Turn > 10*time.Minute:
		return errors.New("--turn must be from 0 (the sale once) to 10m, such as 500ms")
	case !(c.Limit >= 0 && c.Limit <= 100):
		return errors.New("--limit must be from 0 to 100 percent")
	}
	switch strings.Join(c.Baselines, ",") {
	case "all":
		c.Baselines = compare.AllBaselines
	case "none":
		c.Baselines = nil
	}
	if err := compare.CheckBaselines(c.Baselines); err != nil {
		return fmt.Errorf("--baselines: %w", err)
	}
	if err := compare.CheckCrowds(c.Crowds); err != nil {
		return fmt.Errorf("--crowds: %w", err)
	}
	c.sale = compare.DefaultOptions().Sale.Scenario
	c.sale.Stock, c.sale.Buyers, c.sale.Concurrency, c.sale.Quantity = c.Stock, c.Buyers, c.Concurrency, c.Quantity
	c.sale.SKU, c.sale.Timeout, c.sale.Seed = c.SKU, c.Timeout, rand.Uint64()
	c.sale.Buying = c.Buying
	if c.Seed != nil {
		c.sale.Seed = *c.Seed
	}
	if err := c.checkBuying(); err != nil {
		return err
	}
	if err := (loadtest.Config{Scenario: c.sale, Targets: c.Target}).Check(); err != nil {
		return err
	}
	if c.Against != "" {
		if c.older, err = c.readOlder(); err != nil {
			return err
		}
	}
	return errors.Join(c.TokenFlags.check(), c.CompareOutput.check())
}

// checkBuying finds strategies that cannot sell as the flags ask.
func (c *CompareCmd) checkBuying() error {
	accepts := func(i catalog.Info) bool { return i.Accepts }
	reserves := func(i catalog.Info) bool { return i.Reserves }
	switch cannot := slices.IndexFunc(c.chosen, func(i catalog.Info) bool { return !i.Reserves }); {
	case c.FinalWithin != 0 && !c.Async:
		return errors.New("--final-within is about answers in two steps: give --async, or leave it out")
	case c.Async && c.Reserve != 0:
		return errors.New("--async and --reserve: no strategy does both, so give one of them")
	case c.Async && !slices.ContainsFunc(c.chosen, accepts):
		return fmt.Errorf("--async: none of these strategies answers in two steps; those that do: %s", namesOf(accepts))
	case c.Reserve != 0 && cannot >= 0:
		return fmt.Errorf("--reserve: %s has no reservations; give --strategies %s", c.chosen[cannot].Name, namesOf(reserves))
	}
	return nil
}

// namesOf lists strategies by comma.
func namesOf(are func(catalog.Info) bool) string {
	var names []string
	for _, i := range strategies.All() {
		if are(i) {
			names = append(names, i.Name)
		}
	}
	return strings.Join(names, ",")
}

func (c *CompareCmd) readOlder() (*compare.Result, error) {
	f, err := os.Open(c.Against)
	if err != nil {
		return nil, fmt.Errorf("--against: %w", err)
	}
	defer f.Close()
	older, err := compare.Read(f)
	if err == nil {
		if different := older.Differences(c.sale); different != nil {
			err = different[0]
		}
	}
	if err != nil {
		return nil, fmt.Errorf("--against %s: %w", c.Against, err)
	}
	older.Strategies = slices.DeleteFunc(older.Strategies, func(e *compare.Entry) bool { return !c.chose(e.Strategy) })
	return older, nil
}

// chose reports whether a strategy takes part; others are not reported as gone.
func (c *CompareCmd) chose(name string) bool {
	return slices.ContainsFunc(c.chosen, func(i catalog.Info) bool { return i.Name == name })
}

func (c *CompareCmd) Run(ctx context.Context, stdout io.Writer, stderr stderrWriter) error {
	if err := c.CompareOutput.of(&compare.Result{}).prepare(); err != nil {
		return err
	}
	where, err := c.where(ctx, stderr, "compare", c.Target)
	if err != nil {
		return err
	}
	defer where.leave()
	c.warn(stderr, c.chosen...)
	onStep, clear := steps(stderr, c.Quiet)
	options := compare.Options{
		Sale:    loadtest.Config{Scenario: c.sale, Targets: where.targets, AdminToken: where.token},
		Repeats: c.Repeats, Turn: c.Turn, Few: c.Few, Crowds: c.Crowds,
		OnStep: func(done, total int, next compare.Step) { onStep(done, total, next.What) },
	}
	if err := where.openLedger(ctx, &options.Sale); err != nil {
		return err
	}
	result := where.compare(ctx, c.chosen, c.Baselines, options)
	clear()
	result.Command = commandLine()
	if c.older != nil {
		result.CompareWith(c.older, c.Limit)
	}
	if _, err := c.CompareOutput.of(result).write(stdout); err != nil {
		return err
	}
	if status := result.ExitStatus(); status != 0 {
		return exitStatus(status)
	}
	return nil
}
