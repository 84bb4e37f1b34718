package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

	"seckill/internal/backend"
	"seckill/internal/bench/hot"
)

// BenchGinCmd serves the baselines over HTTP, in a process of its own as the
// service has one. bench hot starts it; it ends with its standard input.
type BenchGinCmd struct {
	Given backend.Config `embed:""`
}

func (c *BenchGinCmd) Run(ctx context.Context, stdout io.Writer) (err error) {
	in, err := backend.Open(ctx, c.Given)
	if err != nil {
		return err
	}
	defer in.Close()
	if in.Redis == nil || in.DB == nil {
		return errors.New("the baselines need MySQL and Redis: this command is for seckill bench hot")
	}
	h, err := hot.NewHandler(ctx, in)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, h.Close()) }()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	server := &http.Server{Handler: h, ReadHeaderTimeout: 5 * time.Second}
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	fmt.Fprintf(stdout, "http://%s\n", listener.Addr())
	gone := make(chan struct{})
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		close(gone)
	}()
	select {
	case err = <-served:
		return err
	case <-gone:
	case <-ctx.Done():
	}
	return server.Close()
}

// A ginProcess is a running bench gin.
type ginProcess struct {
	url  string
	stop func()
}

func startGin(ctx context.Context, config backend.Config) (*ginProcess, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	command := exec.CommandContext(context.WithoutCancel(ctx), program, "bench", "gin")
	for name, value := range config.Only(backend.SQL, backend.RowLocks, backend.Redis).Environment() {
		command.Env = append(command.Env, name+"="+value)
	}
	command.Env = slices.Concat(withoutOurs(os.Environ()), command.Env)
	var said strings.Builder
	command.Stderr = &said
	input, err := command.StdinPipe()
	if err != nil {
		return nil, err
	}
	output, err := command.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := command.Start(); err != nil {
		return nil, err
	}
	line, err := bufio.NewReader(output).ReadString('\n')
	stop := func() {
		_ = input.Close()
		_ = command.Wait()
	}
	if err != nil {
		stop()
		return nil, fmt.Errorf("it ended: %s", strings.TrimSpace(said.String()))
	}
	return &ginProcess{strings.TrimSpace(line), stop}, nil
}

// withoutOurs leaves out this program's own settings.
func withoutOurs(environ []string) []string {
	return slices.DeleteFunc(environ, func(entry string) bool { return strings.HasPrefix(entry, "SECKILL_") })
}
