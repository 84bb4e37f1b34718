package main

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"seckill/internal/bench/hot"
	"seckill/internal/numbers"
)

// Measurements of sales that share one time, in rounds.

// checkTurns rejects rounds and a time that cannot be had; fewer are the flags
// that make fewer turns.
func checkTurns(turns, rounds int, within time.Duration, fewer string) error {
	if rounds < 1 || rounds > 100 {
		return errors.New("--rounds must be 1 to 100")
	}
	if least := hot.Least(turns); within < least || within > 24*time.Hour {
		return fmt.Errorf("--within must be from %s (for %d measurements) to 24h: give more, or fewer %s or --rounds",
			least.Round(time.Second), turns, fewer)
	}
	return nil
}

func announceTurns(stderr io.Writer, turns, rounds int, within time.Duration) {
	fmt.Fprintf(stderr, "%s over %s; about %s, and half a minute for the servers.\n", numbers.Count(turns, "measurement"),
		numbers.Count(rounds, "round"), within)
}

// measured is the error of a run whose report was written, or was not.
func measured(written, err error, failed []string) error {
	switch {
	case written != nil:
		return errors.Join(err, written)
	case err != nil:
		return fmt.Errorf("interrupted; the figures are those until then: %w", err)
	case len(failed) > 0:
		return fmt.Errorf("not everything was measured and held: %s", strings.Join(failed, "; "))
	}
	return nil
}
