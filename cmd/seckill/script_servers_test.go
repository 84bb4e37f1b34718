package main

import (
	"strings"
	"sync"

	"github.com/rogpeppe/go-internal/testscript"

	"seckill/internal/backend"
	"seckill/internal/lab/labtest"
)

// servers NEED... has the test program's lab run servers, and names them, and no
// others, in the script's environment.
func useServers(ts *testscript.TestScript, _ bool, args []string) {
	var needs []backend.Capability
	for _, name := range args {
		needs = append(needs, backend.Capability(name))
	}
	for name, value := range labtest.Config(of(ts), needs...).Environment() {
		ts.Setenv(name, value)
	}
}

// ledgers is locked by a script that sells on the servers of all tests, which
// have one ledger.
var ledgers sync.Mutex

// alone waits until no other script sells on the servers of all tests.
func alone(ts *testscript.TestScript, _ bool, _ []string) {
	ledgers.Lock()
	ts.Defer(ledgers.Unlock)
}

// services names two service processes in $TARGET, and their servers. The
// script is alone with them.
func useServices(ts *testscript.TestScript, neg bool, _ []string) {
	alone(ts, neg, nil)
	l, urls := sharedServices(of(ts))
	ts.Setenv("TARGET", strings.Join(urls, ","))
	ts.Setenv("SECKILL_TOKEN", l.Token())
	useServers(ts, neg, []string{string(backend.SQL), string(backend.Redis)})
}
