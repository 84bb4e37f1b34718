package main

import (
	"bytes"
	"context"
	"io"
	"strings"
	"testing"
)

// A wrong command line is said before anything is started.
func TestWrongUp(t *testing.T) {
	for _, c := range []struct {
		args []string
		says string
	}{
		{[]string{"--strategy", "nope"}, `--strategy: there is no strategy "nope"; seckill strategies lists them`},
		{[]string{"--strategy", ""}, "there is no strategy"},
		{[]string{"--token", "a b"}, "--token must be of visible ASCII characters"},
		{[]string{"--addr", "8080"}, "not of the form host:port"},
		{[]string{"--addr", "0.0.0.0:0"}, "set --token"},
		{[]string{"--services", "0"}, "give 1 to 16"},
		{[]string{"--lock-lease", "0"}, "--lock-lease must be 1ms or longer"},
	} {
		ctx, cancel := context.WithCancel(t.Context())
		var stderr bytes.Buffer
		status := run(ctx, cancel, append([]string{"up"}, c.args...), io.Discard, &stderr)
		cancel()
		if status != statusUsage || !strings.Contains(stderr.String(), c.says) || strings.Contains(stderr.String(), "Starting") {
			t.Errorf("up %q: exit status %d: %s; want %q", c.args, status, &stderr, c.says)
		}
	}
}
