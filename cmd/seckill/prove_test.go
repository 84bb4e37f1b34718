package main

import (
	"bytes"
	"strings"
	"testing"

	"seckill/internal/backend"
	"seckill/internal/catalog"
	"seckill/internal/lab/labtest"
	"seckill/internal/prove"
	"seckill/strategies/sqlrow"
)

// proving runs seckill prove in this process.
func proving(t *testing.T, args ...string) (status int, stdout, stderr string) {
	t.Helper()
	var out, said bytes.Buffer
	status = run(t.Context(), func() {}, append([]string{"prove"}, args...), &out, &said)
	return status, out.String(), said.String()
}

// A strategy that promises what it does not keep ends in a status of its own,
// whatever else was asked for.
func TestProveDiffers(t *testing.T) {
	honest := sqlrow.Naive.Guarantees
	t.Cleanup(func() { sqlrow.Naive.Guarantees = honest })
	sqlrow.Naive.Guarantees = catalog.Guarantees{catalog.Oversell: catalog.Holds}
	status, stdout, said := proving(t, "--strategies=naive", "--questions=oversell", "--budget=500ms", "--quiet", "--json=-",
		"--examples="+t.TempDir(), "--mysql-dsn="+labtest.Start(t, backend.SQL).Config().MySQLDSN)
	if status != statusDiffers || said != "" {
		t.Errorf("status %d, want %d, and nothing said:\n%s", status, statusDiffers, said)
	}
	m, err := prove.ReadMatrix(strings.NewReader(stdout))
	if err != nil {
		t.Fatalf("%v:\n%s", err, stdout)
	}
	if d := m.Differences(); len(d) != 1 || d[0].Strategy != "naive" || d[0].Expected != "holds" {
		t.Errorf("differences %v, want one", d)
	}
}
