package main

import (
	"bytes"
	"io"
	"strings"
	"testing"
)

// --help fits on one screen; --help-all has every flag, with its variable.
func TestHelpFitsOnAScreen(t *testing.T) {
	const screen = 60 // lines
	help := func(args ...string) string {
		var out bytes.Buffer
		if status := run(t.Context(), func() {}, args, &out, io.Discard); status != 0 {
			t.Fatalf("%v ended with %d", args, status)
		}
		return out.String()
	}
	for _, command := range []string{"load", "serve"} {
		short, all := help(command, "--help"), help(command, "--help-all")
		if n := strings.Count(short, "\n"); n > screen {
			t.Errorf("seckill %s --help has %d lines, want at most %d:\n%s", command, n, screen, short)
		}
		if strings.Contains(short, "--mysql-dsn") && command == "load" || !strings.Contains(all, "--mysql-dsn") || !strings.Contains(all, "$SECKILL_MYSQL_DSN") {
			t.Errorf("seckill %s: only --help-all should tell of --mysql-dsn and its variable", command)
		}
	}
}
