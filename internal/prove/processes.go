package prove

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"

	"golang.org/x/sync/errgroup"

	"seckill/internal/backend"
	"seckill/internal/catalog"
)

// Several processes can share a proof. RunProcesses divides the strategies, and each process calls Serve:
//
//  1. RunProcesses writes the names of as many strategies as the process proves side by side, one name per line.
//  2. Serve writes each answer as a line of JSON.
//  3. When a strategy has all its answers, RunProcesses writes the next name, or an empty line if none is left.
//  4. After the empty line and the last answer, Serve writes a message without a strategy, and ends.
//
// If RunProcesses closes the input before the end, Serve stops its proof.

// A Process is one process of a proof, which calls Serve.
type Process struct {
	In   io.WriteCloser
	Out  io.Reader
	Wait func() error // waits for the end of the process, and returns nil if it succeeded
}

// A message is one line that Serve writes.
type message struct {
	Strategy string           `json:"strategy,omitempty"` // "" in the last message
	Question string           `json:"question,omitempty"`
	Cell     Cell             `json:"cell"`
	Backends []backend.Status `json:"backends,omitempty"` // set only in the last message
	Error    string           `json:"error,omitempty"`    // set only in the last message
}

// RunProcesses computes the matrix like Run, in several processes. Each of them has a part of o.Workers. Only the
// processes use the options Servers and Example.
func RunProcesses(ctx context.Context, o Options, processes []Process) (*Matrix, error) {
	r, err := newRecorder(o)
	if err != nil {
		return nil, err
	}
	defer r.stopClock()
	rows := allRows(o.Infos)
	sharing, stopped := errgroup.WithContext(ctx)
	for i, p := range processes {
		sideBySide := PartOf(o.Workers, i, len(processes))
		sharing.Go(func() error {
			defer context.AfterFunc(stopped, func() { _ = p.In.Close() })()
			err := r.divide(p, sideBySide, rows)
			_ = p.In.Close()
			_, _ = io.Copy(io.Discard, p.Out) // read the rest, because a process that cannot write would not end
			if ended := p.Wait(); ended != nil {
				return fmt.Errorf("a process of the proof ended early: %w", ended)
			}
			return err
		})
	}
	err = sharing.Wait()
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	return r.matrix, err
}

// PartOf returns how many of the given number of workers the i-th of n processes has.
func PartOf(workers, i, n int) int { return (workers + i) / n }

// divide gives strategies to a process until none is left, and records the answers.
func (r *recorder) divide(p Process, sideBySide int, rows <-chan int) error {
	giveNext := func() error {
		name := ""
		if row, ok := <-rows; ok {
			name = r.matrix.Rows[row].Strategy
		}
		_, err := fmt.Fprintln(p.In, name)
		return err
	}
	for range sideBySide {
		if err := giveNext(); err != nil {
			return fmt.Errorf("give a strategy to a process of the proof: %w", err)
		}
	}
	messages, answers := json.NewDecoder(p.Out), map[string]int{}
	for {
		var m message
		if err := messages.Decode(&m); err != nil {
			return fmt.Errorf("a process of the proof ended early: %w", err)
		}
		if m.Strategy == "" {
			r.setBackends(m.Backends)
			if m.Error != "" {
				return errors.New(m.Error)
			}
			return nil
		}
		r.record(m.Strategy, m.Question, m.Cell)
		if answers[m.Strategy]++; answers[m.Strategy] < len(r.matrix.Questions) {
			continue
		}
		if err := giveNext(); err != nil {
			return fmt.Errorf("give a strategy to a process of the proof: %w", err)
		}
	}
}

// Serve proves the strategies whose names it reads from input, and writes the answers to output. It returns an
// error if it cannot write.
func Serve(ctx context.Context, o Options, input io.Reader, output io.Writer) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	rows := make(chan int, len(o.Infos)) // has room for all, so that the reader never waits
	go func() {
		defer cancel(errors.New("the command that divides the proof has ended"))
		for names := bufio.NewScanner(input); names.Scan(); {
			row := slices.IndexFunc(o.Infos, func(i catalog.Info) bool { return i.Name == names.Text() })
			if row < 0 {
				close(rows)
				for names.Scan() {
				}
				return
			}
			rows <- row
		}
	}()
	messages := json.NewEncoder(output)
	var unwritten error
	write := func(m message) {
		if err := messages.Encode(m); err != nil && unwritten == nil {
			unwritten = err
			cancel(err)
		}
	}
	o.Progress = func(_, _ int, strategy string, q Question, c Cell) {
		write(message{Strategy: strategy, Question: q.ID, Cell: c})
	}
	m, err := run(ctx, o, rows)
	var last message
	if m != nil {
		last.Backends = m.Backends
	}
	if err != nil {
		last.Error = err.Error()
	}
	write(last)
	return unwritten
}
