package main

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"time"

	"seckill/loadtest"
)

// scenario merges the defaults, the scenario file and the flags; the later
// override the earlier.
func (c *LoadCmd) scenario() (loadtest.Scenario, error) {
	s := loadtest.DefaultScenario()
	s.Seed = rand.Uint64()
	explain := func(err error) error { return err }
	if c.Scenario != "" {
		file, err := loadtest.ReadScenario(c.Scenario, s)
		if err != nil {
			return s, err
		}
		s, explain = file.Scenario, file.Explain
		if s.Service != nil && s.Strategy == loadtest.DefaultScenario().Strategy {
			s.Strategy = "" // the default is for our own service
		}
	}
	over(&s.Strategy, c.Strategy)
	over(&s.Stock, c.Stock)
	over(&s.SKU, c.SKU)
	over(&s.SKUs, c.SKUs)
	over(&s.Zipf, c.Zipf)
	over(&s.Buyers, c.Buyers)
	over(&s.Quantity, c.Quantity)
	over(&s.Duplicates, c.Duplicates)
	over(&s.Cancellations, c.Cancellations)
	over(&s.Copies, c.Copies)
	over(&s.Retry, c.Retry)
	over(&s.Concurrency, c.Concurrency)
	over(&s.Rate, c.Rate)
	over(&s.ToRate, c.ToRate)
	over(&s.Duration, c.Duration)
	over(&s.Connections, c.Connections)
	over(&s.Timeout, c.Timeout)
	over(&s.Drain, c.Drain)
	over(&s.Seed, c.Seed)
	if c.Profile != nil {
		s.Profile = loadtest.Profile(*c.Profile)
	}
	s.NoHistory = s.NoHistory || c.NoHistory
	s.Require = append(s.Require, c.Require...)
	if c.Quantities != nil {
		var err error
		if s.Quantities, err = parseQuantities(*c.Quantities); err != nil {
			return s, err
		}
	}
	if c.Steps != nil {
		var err error
		if s.Steps, err = parseSteps(*c.Steps); err != nil {
			return s, err
		}
	}
	return s, explain(s.Check())
}

func over[T any](field, flag *T) {
	if flag != nil {
		*field = *flag
	}
}

// parseQuantities reads 1:9,3:1: quantities with their shares.
func parseQuantities(text string) (all []loadtest.Share, err error) {
	for part := range strings.SplitSeq(text, ",") {
		quantity, share, ok := strings.Cut(part, ":")
		s := loadtest.Share{Share: 1}
		s.Quantity, err = strconv.ParseInt(strings.TrimSpace(quantity), 10, 64)
		if ok && err == nil {
			s.Share, err = strconv.ParseFloat(strings.TrimSpace(share), 64)
		}
		if err != nil {
			return nil, fmt.Errorf("--quantities %q: write quantities with their shares, such as 1:9,3:1", text)
		}
		all = append(all, s)
	}
	return all, nil
}

// parseSteps reads 100x10s,200x10s: rates and for how long they are kept.
func parseSteps(text string) (all []loadtest.Step, err error) {
	for part := range strings.SplitSeq(text, ",") {
		rate, length, _ := strings.Cut(strings.TrimSpace(part), "x")
		var s loadtest.Step
		if s.Rate, err = strconv.ParseFloat(rate, 64); err == nil {
			s.For, err = time.ParseDuration(length)
		}
		if err != nil {
			return nil, fmt.Errorf("--steps %q: write rates a second and for how long, such as 100x10s,200x10s", text)
		}
		all = append(all, s)
	}
	return all, nil
}
