package main

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/alecthomas/kong"

	"seckill/loadtest"
)

// BeforeApply sets the defaults and what the scenario file says, before flags
// override them.
func (c *LoadCmd) BeforeApply(line *kong.Context) (err error) {
	c.Scenario = loadtest.DefaultScenario()
	c.Scenario.Seed = rand.Uint64()
	for _, given := range line.Path {
		if given.Flag == nil || given.Flag.Name != "scenario" {
			continue
		}
		if c.file, err = loadtest.ReadScenario(line.FlagValue(given.Flag).(string), c.Scenario); err != nil {
			return err
		}
		c.Scenario = c.file.Scenario
	}
	c.Strategy = c.Scenario.Strategy
	return nil
}

// complete reads the flags that take more than a value, and checks the scenario.
func (c *LoadCmd) complete() (err error) {
	s := &c.Scenario
	s.Strategy = c.Strategy
	if c.Quantities != "" {
		if s.Quantities, err = parseQuantities(c.Quantities); err != nil {
			return err
		}
	}
	if c.Steps != "" {
		if s.Steps, err = parseSteps(c.Steps); err != nil {
			return err
		}
	}
	if c.file == nil {
		return s.Check()
	}
	if !slices.Equal(s.Require, c.file.Scenario.Require) { // flags add to the file's
		s.Require = slices.Concat(c.file.Scenario.Require, s.Require)
	}
	return c.file.Explain(s.Check())
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
