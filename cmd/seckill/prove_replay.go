package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strings"

	"seckill/internal/catalog"
	"seckill/internal/explore"
	"seckill/internal/prove"
)

// replay runs one counterexample again.
func (c *ProveCmd) replay(ctx context.Context, stdout io.Writer) error {
	f, err := os.Open(c.Replay)
	if err != nil {
		return fmt.Errorf("the counterexample cannot be read: %w", err)
	}
	e, err := explore.ReadExample(io.LimitReader(f, math.MaxInt32))
	f.Close()
	if err != nil {
		return fmt.Errorf("%s: %w", c.Replay, err)
	}
	info, err := strategyNamed("strategy", e.Strategy)
	if err != nil {
		return fmt.Errorf("%s: %w", c.Replay, err)
	}
	now, err := c.again(ctx, info, e)
	if errors.Is(err, explore.ErrDiverged) {
		fmt.Fprintf(stdout, "%s does not fit any more: %v\nCompute it anew: seckill prove --strategies %s --questions %s\n",
			c.Replay, err, e.Strategy, e.Question)
		return exitStatus(statusDiverged)
	}
	if err != nil {
		return err
	}
	if err := now.WriteTable(stdout); err != nil {
		return err
	}
	for _, p := range e.Problems {
		if slices.ContainsFunc(now.Problems, func(q explore.Problem) bool { return q.Rule == p.Rule }) {
			fmt.Fprintf(stdout, "It still breaks: %s.\n", p.Rule)
			return nil
		}
	}
	var rules []string
	for _, p := range e.Problems {
		rules = append(rules, p.Rule)
	}
	fmt.Fprintf(stdout, "It does not break any more: the file says %s.\n", strings.Join(rules, ", "))
	return exitStatus(statusDiffers)
}

// again does what an example tells of: the explorer step by step; a node is
// lost at the same moment, and the buyers do what they do now.
func (c *ProveCmd) again(ctx context.Context, info catalog.Info, e explore.Example) (now explore.Example, err error) {
	var losing ensembles
	defer losing.stop()
	servers, err := c.servers(ctx, c.places()[0], []catalog.Info{info}, &losing)
	if err != nil {
		return now, err
	}
	defer servers.Close()
	if e.Question == prove.NodeLossQuestion {
		return prove.LoseNode(ctx, info, servers)
	}
	w, err := explore.Open(ctx, info, servers.Config().Only(info.Uses()...), explore.Options{Service: exploredService})
	if err != nil {
		return now, err
	}
	defer w.Close()
	o, err := w.Replay(ctx, e)
	if err != nil {
		return now, err
	}
	return explore.NewExample(e.Strategy, e.Question, o), nil
}
