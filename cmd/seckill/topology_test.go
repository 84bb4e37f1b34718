package main

import (
	"bytes"
	"context"
	"io"
	"strings"
	"testing"
)

// A topology that cannot be had is said before anything is started, by the
// command that was meant.
func TestWrongTopology(t *testing.T) {
	const others, target = "127.0.0.1:1,127.0.0.1:2", "http://127.0.0.1:1"
	for _, c := range []struct {
		args []string
		says string
	}{
		{[]string{"up", "--topology", "ring"}, `--topology must be one of "single","cluster" but got "ring"`},
		{[]string{"load", "--topology", "Cluster"}, `--topology must be one of "single","cluster"`},
		{[]string{"compare", "--topology="}, `--topology must be one of "single","cluster"`},
		{[]string{"serve", "--topology", "cluster"}, "unknown flag --topology"},
		{[]string{"up", "--topology", "cluster", "--embedded"}, "--embedded starts no servers: leave out one of them"},
		{[]string{"up", "--topology", "cluster", "--redis-addrs", others}, "--redis-addrs names others: leave out one of them"},
		{[]string{"load", "--topology", "cluster", "--redis-addrs", others}, "--redis-addrs names others"},
		{[]string{"load", "--topology", "cluster", "--target", target}, "Try: seckill load --help"},
		{[]string{"compare", "--topology", "cluster", "--target", target}, "Try: seckill compare --help"},
		{[]string{"compare", "--topology", "cluster", "--target", target}, "--target names services that run already: leave out one of them"},
	} {
		ctx, cancel := context.WithCancel(t.Context())
		var stderr bytes.Buffer
		status := run(ctx, cancel, c.args, io.Discard, &stderr)
		cancel()
		if status != statusUsage || !strings.Contains(stderr.String(), c.says) || strings.Contains(stderr.String(), "tarting") {
			t.Errorf("%q: exit status %d: %s; want %q", c.args, status, &stderr, c.says)
		}
	}
}
