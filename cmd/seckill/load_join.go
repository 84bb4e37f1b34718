package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"strings"
	"time"

	"seckill/internal/numbers"
	"seckill/loadtest"
	"seckill/loadtest/join"
)

const (
	// mostWorkers of one run; each is a connection.
	mostWorkers = 256
	shortSecret = 32 // bytes
	// joinWithin is how long a worker asks for its run, which may start later, and
	// assembleWithin how long a run waits for its workers.
	joinWithin     = 2 * time.Minute
	assembleWithin = 10 * time.Minute
)

// ofWorker are the flags of a worker of a run. The run has all others.
var ofWorker = []string{"join", "join-secret", "ca"}

// checkWorkers checks the flags about several workers.
func (c *LoadCmd) checkWorkers() error {
	if c.Join != "" {
		for _, name := range c.given {
			if !slices.Contains(ofWorker, name) {
				return fmt.Errorf("--join: what is sent comes from the run, give --%s there; here are --%s", name, strings.Join(ofWorker, ", --"))
			}
		}
		if _, _, err := net.SplitHostPort(c.Join); err != nil {
			return fmt.Errorf("--join %q is no address, such as 192.0.2.7:7711: %w", c.Join, err)
		}
	}
	switch {
	case c.Workers < 0 || c.Workers > mostWorkers:
		return fmt.Errorf("--workers must be 1 to %d", mostWorkers)
	case c.Workers == 0 && slices.Contains(c.given, "listen"):
		return errors.New("--listen is where workers join: say with --workers how many")
	case c.Workers == 0 && c.Join == "" && slices.Contains(c.given, "join-secret"):
		return errors.New("--join-secret is for --workers and --join: give one of them")
	case c.Workers == 0:
	case c.Repeats > 1:
		return errors.New("--repeats: workers come for one run; leave out --workers")
	default:
		if err := loadtest.CheckWorkers(c.Scenario, c.Workers); err != nil {
			return fmt.Errorf("--workers: %w", err)
		}
	}
	if (c.Workers > 0 || c.Join != "") && c.JoinSecret == "" {
		return errors.New("--join-secret (SECKILL_JOIN_SECRET) is missing: a file with a secret that both sides have, such as of openssl rand -hex 32")
	}
	return nil
}

// joinSecret reads it: both sides prove that they know it.
func (c *LoadCmd) joinSecret() ([]byte, error) {
	text, err := readSecret("--join-secret", c.JoinSecret)
	if err != nil {
		return nil, err
	}
	secret := []byte(strings.TrimRight(string(text), "\r\n"))
	if len(secret) < shortSecret {
		return nil, fmt.Errorf("--join-secret %s has %d bytes: give it %d or more", c.JoinSecret, len(secret), shortSecret)
	}
	return secret, nil
}

// assemble waits for the workers of a run.
func (c *LoadCmd) assemble(ctx context.Context, stderr stderrWriter) (*join.Crew, error) {
	secret, err := c.joinSecret()
	if err != nil {
		return nil, err
	}
	l, err := net.Listen("tcp", c.Listen)
	if err != nil {
		return nil, cannotListen("--listen", c.Listen, err)
	}
	fmt.Fprintf(stderr, "Waiting for %s at %s: seckill load --join %s --join-secret FILE\n", numbers.Count(c.Workers, "worker"), l.Addr(), l.Addr())
	ctx, cancel := context.WithTimeoutCause(ctx, assembleWithin, fmt.Errorf("not all came within %s", assembleWithin))
	defer cancel()
	return join.Assemble(ctx, l, secret, c.Workers, func(name string, so, far int) {
		fmt.Fprintf(stderr, "%d of %d: %s joined.\n", so, far, name)
	})
}

// work sends a part of another process's run. The verdict is that process's.
func (c *LoadCmd) work(ctx context.Context, stderr stderrWriter) error {
	secret, err := c.joinSecret()
	if err != nil {
		return err
	}
	config := loadtest.Config{Authorities: c.authorities}
	name, err := os.Hostname()
	if err != nil {
		name = "without a name"
	}
	w := join.Worker{Addr: c.Join, Secret: secret, Name: fmt.Sprintf("%s, process %d", name, os.Getpid()), Config: config,
		Told: func(number, of int, o loadtest.Order) {
			fmt.Fprintf(stderr, "Worker %d of %d: %s buyers of %s at %s.\n", number+1, of,
				numbers.Thousands(loadtest.PartOf(o.Scenario, number, of)), o.Scenario.Strategy, strings.Join(o.Targets, ", "))
		}}
	if err := w.Run(ctx, joinWithin); err != nil {
		return err
	}
	fmt.Fprintln(stderr, "Sent. The verdict is with the run.")
	return nil
}
