package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"strings"
	"syscall"
	"time"

	"seckill/internal/prove"
)

// computeMatrix computes the matrix in one process for each processor. A process and its servers stay on their
// processor, so no message between them wakes another processor. A proof that took 47 to 52 s took 39 s like this.
func (c *ProveCmd) computeMatrix(ctx context.Context, stderr io.Writer) (*prove.Matrix, error) {
	o := c.proofOptions(stderr, nil)
	if number := min(o.Workers, len(c.chosen), runtime.NumCPU()); number > 1 {
		processes, err := c.startProcesses(ctx, stderr, number)
		if err != nil {
			return nil, err
		}
		return prove.RunProcesses(ctx, o, processes)
	}
	losing, err := losingLab(ctx)
	if err != nil {
		return nil, err
	}
	defer endLab(stderr, losing)
	return prove.Run(ctx, c.proofOptions(stderr, losing))
}

// startProcesses starts processes that call provePart. They have the flags of this process.
func (c *ProveCmd) startProcesses(ctx context.Context, stderr io.Writer, number int) (list []prove.Process, err error) {
	program, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find this program's own file, to run it again: %w", err)
	}
	defer func() {
		for _, p := range list {
			if err != nil {
				_ = p.In.Close()
				_ = p.Wait()
			}
		}
	}()
	var names []string
	for _, i := range c.chosen {
		names = append(names, i.Name)
	}
	for i := range number {
		o := c.Options
		args := []string{"prove", "--part", "--strategies=" + strings.Join(names, ","), "--examples=" + c.Examples,
			"--topology=" + c.Topology, fmt.Sprint("--schedules=", o.Schedules), fmt.Sprint("--budget=", o.Budget),
			fmt.Sprint("--seed=", o.Seed), fmt.Sprint("--workers=", prove.PartOf(o.Workers, i, number))}
		if o.Questions != nil {
			args = append(args, "--questions="+strings.Join(o.Questions, ","))
		}
		cmd := exec.CommandContext(ctx, program, args...)
		cmd.Stderr = stderr
		// Ctrl-C reaches only this process, which then closes the standard input of the others.
		cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
		cmd.Cancel, cmd.WaitDelay = func() error { return nil }, time.Minute
		p := prove.Process{Wait: cmd.Wait}
		if p.In, err = cmd.StdinPipe(); err == nil {
			p.Out, err = cmd.StdoutPipe()
		}
		if err == nil {
			err = startOnProcessor(cmd, i)
		}
		if err != nil {
			return list, fmt.Errorf("start a process of the proof: %w", err)
		}
		list = append(list, p)
	}
	return list, nil
}

// provePart proves the strategies that computeMatrix of another process sends.
func (c *ProveCmd) provePart(ctx context.Context, stdout, stderr io.Writer) error {
	debug.SetGCPercent(400) // collect garbage less often, because a schedule needs little memory
	losing, err := losingLab(ctx)
	if err != nil {
		return err
	}
	defer endLab(stderr, losing)
	return prove.Serve(ctx, c.proofOptions(stderr, losing), os.Stdin, stdout)
}
