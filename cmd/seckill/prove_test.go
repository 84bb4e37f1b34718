package main

import (
	"bytes"
	"testing"

	"seckill/internal/backend"
	"seckill/internal/catalog"
	"seckill/internal/lab/labtest"
	"seckill/internal/prove"
	"seckill/strategies/sqlrow"
)

// A strategy that promises what it does not keep ends in a status of its own,
// whatever else was asked for.
func TestProveDiffers(t *testing.T) {
	honest := sqlrow.Naive.Guarantees
	t.Cleanup(func() { sqlrow.Naive.Guarantees = honest })
	sqlrow.Naive.Guarantees = catalog.Guarantees{catalog.Oversell: catalog.Holds}
	var out, said bytes.Buffer
	status := run(t.Context(), func() {}, []string{"prove", "--strategies=naive", "--questions=oversell", "--budget=500ms", "--quiet", "--json=-",
		"--examples=" + t.TempDir(), "--mysql-dsn=" + labtest.Start(t, backend.SQL).Config().MySQLDSN}, &out, &said)
	if status != statusDiffers || said.Len() > 0 {
		t.Errorf("status %d, want %d, and nothing said:\n%s", status, statusDiffers, &said)
	}
	m, err := prove.ReadMatrix(&out)
	labtest.Must(t, err)
	if d := m.Differences(); len(d) != 1 || d[0].Strategy != "naive" || d[0].Expected != "holds" {
		t.Errorf("differences %v, want one", d)
	}
}
