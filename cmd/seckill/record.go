package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"seckill/internal/backend"
	"seckill/internal/game"
	"seckill/internal/lab"
	"seckill/strategies"
)

const (
	recordedAtOnce  = 4 // levels: one waits for its servers while others compute
	maxRecordedSize = 300_000
)

// recordLevels writes what private servers answer to the moves of one level, or of all, into the folder of --record.
func (c *PlayCmd) recordLevels(ctx context.Context, stdout io.Writer, stderr stderrWriter) (err error) {
	levels := game.Levels()
	if c.level != nil {
		levels = []*game.Level{c.level}
	}
	var needs []backend.Capability
	for _, level := range levels {
		needs = append(needs, strategies.Named(level.Setting.Strategy).Uses()...)
	}
	l, err := lab.Start(ctx, lab.Options{Host: thisHost(), Given: c.Given, Backends: backend.NamesOf(needs...), Volatile: true})
	if err != nil {
		return err
	}
	defer endLab(stderr, l)
	var servers []string
	for _, b := range l.Backends() {
		servers = append(servers, b.Name+" "+b.Version)
	}
	if err := os.MkdirAll(c.Record, 0o777); err != nil {
		return fmt.Errorf("--record: %w", err)
	}
	var printing sync.Mutex
	var failed atomic.Bool
	var all errgroup.Group
	all.SetLimit(recordedAtOnce)
	for _, level := range levels {
		all.Go(func() error {
			began := time.Now()
			r, err := game.Record(ctx, l.Config(), strategies.Named(level.Setting.Strategy), level,
				game.RecordLimits{Time: c.RecordFor, Size: maxRecordedSize})
			if err != nil {
				fmt.Fprintln(stderr, err)
				failed.Store(true)
				return nil // the others are recorded
			}
			r.Recorded, r.Servers = began.UTC().Format(time.DateOnly), servers
			size, err := writeRecording(filepath.Join(c.Record, level.Name+".json.gz"), r)
			printing.Lock()
			defer printing.Unlock()
			bound := "every schedule"
			if !r.Whole {
				bound = fmt.Sprintf("at most %d turns", r.Turns)
			}
			fmt.Fprintf(stdout, "%2d  %-24s %6d schedules  %6d positions  %7d bytes  %5.1f s  %s\n",
				level.Number, level.Name, r.Schedules, len(r.Positions), size, time.Since(began).Seconds(), bound)
			return err
		})
	}
	if err := all.Wait(); err != nil || !failed.Load() {
		return err
	}
	return errors.New("some levels were not recorded")
}

// writeRecording returns the size of the file.
func writeRecording(name string, r *game.Recording) (size int64, err error) {
	f, err := os.Create(name)
	if err != nil {
		return 0, err
	}
	if err := errors.Join(r.Write(f), f.Close()); err != nil {
		return 0, err
	}
	info, err := os.Stat(name)
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}
