package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"seckill/loadtest"
	"seckill/loadtest/report"
)

const mostRepeats = 10_000

// repeat runs the sale --repeats times: a line per run as it ends, then how
// often each verdict was given.
func (c *LoadCmd) repeat(ctx context.Context, config loadtest.Config, stdout io.Writer, stderr stderrWriter) error {
	_, terminal := columns(stdout)
	lines, color := stdout, terminal && os.Getenv("NO_COLOR") == ""
	if c.JSON {
		lines, color = stderr, false
	}
	var failed error
	all, err := loadtest.Repeat(ctx, config, c.Repeats, func(i int, r *loadtest.Result) {
		_, err := fmt.Fprintln(lines, report.Line(r, i, c.Repeats, color))
		failed = errors.Join(failed, err)
	})
	switch {
	case errors.Is(err, loadtest.ErrConfig):
		return usage(stderr, "load", err)
	case err != nil:
		return err
	case c.JSON:
		err = encode(stdout, all)
	default:
		err = report.WriteRepeats(stdout, all)
	}
	if err = errors.Join(failed, err); err != nil {
		return fmt.Errorf("the result could not be written to standard output: %w", err)
	}
	return ended(all.Exit)
}
