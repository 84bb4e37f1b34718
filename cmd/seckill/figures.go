package main

import (
	"errors"
	"fmt"
	"io"
	"os"

	"seckill/internal/bench"
	"seckill/internal/chaos"
	"seckill/internal/figures"
	"seckill/internal/measure"
	"seckill/loadtest/compare"
)

// FiguresCmd puts stored results into docs/figures.md and the lessons, or into
// docs/chaos.md.
type FiguresCmd struct {
	Compare string `type:"existingfile" and:"tables" help:"What seckill compare --json wrote." placeholder:"FILE"`
	Locks   string `type:"existingfile" and:"tables" help:"What seckill bench locks --json wrote." placeholder:"FILE"`
	Claims  string `type:"existingfile" and:"tables" help:"What seckill bench claims --json wrote." placeholder:"FILE"`
	Chaos   string `type:"existingfile" help:"What seckill chaos --json wrote, for --readme, and for --json, which the screen of the page reads." placeholder:"FILE"`

	JSON   string `name:"json" help:"The lessons' figures, or those of the screen of faults." placeholder:"FILE"`
	Readme string `help:"A Markdown file with a place for figures." placeholder:"FILE"`
}

// Validate finds what is wrong with the flags alone.
func (c *FiguresCmd) Validate() error {
	switch {
	case c.JSON == "" && c.Readme == "":
		return errors.New("say where the figures go: --json, --readme or both")
	case (c.Chaos == "") == (c.Compare == ""):
		return errors.New("give either --chaos, or --compare with --locks and --claims")
	}
	return nil
}

func (c *FiguresCmd) Run() error {
	if c.Chaos != "" {
		return c.chaos()
	}
	var sales compare.Result
	var locks bench.Report
	claims := bench.Claims{Report: &bench.Report{}}
	if err := errors.Join(readJSON(c.Compare, &sales), readJSON(c.Locks, &locks), readJSON(c.Claims, &claims)); err != nil {
		return err
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

func (c *FiguresCmd) chaos() error {
	f, err := os.Open(c.Chaos)
	if err != nil {
		return err
	}
	defer f.Close()
	r, err := chaos.Read(f)
	if err != nil {
		return fmt.Errorf("%s: %w", c.Chaos, err)
	}
	if c.JSON != "" {
		err = replace(c.JSON, r.WritePage)
	}
	if err == nil && c.Readme != "" {
		err = figures.PutChaos(r, c.Readme)
	}
	return err
}

func readJSON(file string, to any) error {
	f, err := os.Open(file)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := measure.ReadJSON(f, to); err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	return nil
}
