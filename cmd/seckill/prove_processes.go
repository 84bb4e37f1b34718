package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"syscall"
	"time"

	"golang.org/x/sync/errgroup"

	"seckill/internal/prove"
	"seckill/internal/tables"
)

// computeMatrix computes the matrix in one process for each processor. A process and its servers stay on their
// processor, so no message between them wakes another processor. This shortened a proof from 47–52 s to 39 s.
func (c *ProveCmd) computeMatrix(ctx context.Context, stderr io.Writer) (*prove.Matrix, error) {
	o := c.Options
	o.Infos = c.chosen
	if c.MySQLDSN != "" {
		// Use one worker on a database that the user has given, because several workers would disturb each other.
		o.Workers = 1
	}
	parts := make([]*prove.Matrix, min(o.Workers, len(c.chosen), runtime.NumCPU()))
	if len(parts) == 1 {
		return c.proveHere(ctx, stderr, o)
	}
	// Each process takes the next strategy from this pipe: a byte with the strategy's index.
	rows, add, err := os.Pipe()
	if err != nil {
		return prove.Merge(o), err
	}
	defer rows.Close()
	for i := range c.chosen {
		_, _ = add.Write([]byte{byte(i)}) // does not block, because a pipe can buffer all these bytes
	}
	add.Close()
	processes, running := errgroup.WithContext(ctx)
	for i := range parts {
		processes.Go(func() (err error) {
			parts[i], err = startPart(running, stderr, rows, i, len(parts))
			return err
		})
	}
	err = processes.Wait()
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	return prove.Merge(o, parts...), err
}

// startPart starts a process that calls provePart, and returns its matrix. The new process has the same flags.
// If ctx ends, startPart closes the standard input of the process, which then ends its proof.
func startPart(ctx context.Context, stderr io.Writer, rows *os.File, part, parts int) (*prove.Matrix, error) {
	m := &prove.Matrix{}
	program, err := os.Executable()
	if err != nil {
		return m, fmt.Errorf("find this program's own file, to run it again: %w", err)
	}
	args := append(os.Args[1:len(os.Args):len(os.Args)], fmt.Sprintf("--part=%d,%d", part, parts))
	cmd := exec.CommandContext(ctx, program, args...)
	var answers bytes.Buffer
	cmd.Stdout, cmd.Stderr, cmd.ExtraFiles = &answers, stderr, []*os.File{rows} // file descriptor 3
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}                       // Ctrl-C then reaches only this process
	input, err := cmd.StdinPipe()
	if err == nil {
		cmd.Cancel, cmd.WaitDelay = input.Close, time.Minute
		err = startOnProcessor(cmd, part)
	}
	if err != nil {
		return m, fmt.Errorf("start a process of the proof: %w", err)
	}
	if err = cmd.Wait(); err != nil {
		err = fmt.Errorf("a process of the proof ended early: %w", err)
	}
	if found, unread := prove.ReadMatrix(&answers); unread == nil {
		m = found
	}
	return m, err
}

// provePart proves strategies that it takes from the pipe with file descriptor 3, and writes its matrix as JSON.
func (c *ProveCmd) provePart(ctx context.Context, stdout, stderr io.Writer) error {
	debug.SetGCPercent(400) // collect garbage less often, because a schedule needs little memory
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		cancel()
	}()
	o, rows := c.Options, os.NewFile(3, "strategies")
	o.Infos, o.Workers = c.chosen, (o.Workers+c.Part[0])/c.Part[1]
	o.Next = func() (int, bool) {
		row := []byte{0}
		n, _ := rows.Read(row)
		return int(row[0]), n == 1
	}
	m, err := c.proveHere(ctx, stderr, o)
	if ctx.Err() != nil {
		err = exitStatus(statusFailed) // the parent process has ended this one, and reports the reason itself
	}
	return errors.Join(tables.Report{JSON: m}.WriteJSON(stdout), err)
}

func (c *ProveCmd) proveHere(ctx context.Context, stderr io.Writer, o prove.Options) (*prove.Matrix, error) {
	losing, err := losingLab(ctx)
	if err != nil {
		return prove.Merge(o), err
	}
	defer endLab(stderr, losing)
	o.Example = c.keepExample
	o.Servers = func(ctx context.Context) (prove.Servers, func(), error) {
		own, err := c.startServers(ctx, o.Infos...)
		return prove.Servers{Lab: own, Losing: losing}, func() { endLab(stderr, own) }, err
	}
	process := "" // begins each line of progress if there are several processes, because each counts its own answers
	if c.Part != nil {
		process = fmt.Sprintf("process %d: ", c.Part[0]+1)
	}
	o.Progress = func(done, total int, strategy string, q prove.Question, cell prove.Cell) {
		if !c.Quiet {
			fmt.Fprintf(stderr, "%s%4d/%d  %-22s %-26s %s\n", process, done, total, strategy, q.Title, cell.Summary())
		}
	}
	return prove.Run(ctx, o)
}
