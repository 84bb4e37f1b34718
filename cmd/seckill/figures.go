package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"seckill/internal/bench"
	"seckill/internal/figures"
	"seckill/loadtest/compare"
)

// FiguresCmd puts results that were measured before where people read them.
type FiguresCmd struct {
	Compare string `type:"existingfile" required:"" help:"What seckill compare --json wrote." placeholder:"FILE"`
	Locks   string `type:"existingfile" required:"" help:"What seckill bench locks --json wrote." placeholder:"FILE"`
	Claims  string `type:"existingfile" required:"" help:"What seckill bench claims --json wrote." placeholder:"FILE"`

	JSON   string `name:"json" help:"The lessons' figures." placeholder:"FILE"`
	Readme string `help:"A Markdown file with a place for figures." placeholder:"FILE"`
}

// Validate finds what is wrong with the flags alone.
func (c *FiguresCmd) Validate() error {
	if c.JSON == "" && c.Readme == "" {
		return errors.New("say where the figures go: --json, --readme or both")
	}
	return nil
}

func (c *FiguresCmd) Run() error {
	var sales compare.Result
	var locks bench.Report
	claims := bench.Claims{Report: &bench.Report{}}
	for _, from := range []struct {
		file string
		to   any
	}{{c.Compare, &sales}, {c.Locks, &locks}, {c.Claims, &claims}} {
		data, err := os.ReadFile(from.file)
		if err != nil {
			return err
		}
		if err := json.Unmarshal(data, from.to); err != nil {
			return fmt.Errorf("%s: %w", from.file, err)
		}
	}
	if err := sales.Check(); err != nil {
		return fmt.Errorf("%s: %w", c.Compare, err)
	}
	set := figures.Set{Compare: figures.OfSales(&sales), Locks: figures.OfLocks(&locks), Claims: figures.OfClaims(&claims)}
	if len(set.Locks.Locks) == 0 || len(set.Claims.Polls) == 0 {
		return fmt.Errorf("%s or %s has no figures: is it what seckill bench locks and seckill bench claims wrote with --json?", c.Locks, c.Claims)
	}
	if c.JSON != "" {
		if err := replace(c.JSON, func(w io.Writer) error { return set.Write(w) }); err != nil {
			return err
		}
	}
	if c.Readme != "" {
		return set.PutIntoReadme(c.Readme)
	}
	return nil
}
