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

// A strategy that does not come out as the matrix in this program has it ends in a
// status of its own, whatever else was asked for; so does one that has no row there
// and promises what it does not keep. A smaller bound may miss what breaks.
func TestProveDiffers(t *testing.T) {
	honest := sqlrow.Naive
	t.Cleanup(func() { sqlrow.Naive = honest })
	dsn := "--mysql-dsn=" + labtest.Start(t, backend.SQL).Config().MySQLDSN
	ask := func(flags ...string) (status int, m *prove.Matrix, said string) {
		var out, progress bytes.Buffer
		status = runProgram(t.Context(), func() {}, append([]string{"prove", "--questions=oversell", "--budget=500ms", "--json=-",
			"--examples=" + t.TempDir(), dsn, "--strategies=" + sqlrow.Naive.Name}, flags...), &out, &progress)
		m, err := prove.ReadMatrix(&out)
		labtest.Must(t, err)
		return status, m, progress.String()
	}

	sqlrow.Naive.New = sqlrow.Conditional.New
	if status, _, said := ask(); status != statusDiffers || !strings.Contains(said, "naive, no oversell: it is said that it breaks oversold, and it holds") {
		t.Errorf("naive sells right: status %d, want %d, and said\n%s", status, statusDiffers, said)
	}
	if status, m, said := ask("--quiet", "--schedules=1"); status != 0 || said != "" || m.Rows[0].Cells["oversell"].Answer != prove.Holds {
		t.Errorf("with a smaller bound: status %d, want 0, and said\n%s", status, said)
	}
	sqlrow.Naive.New = sqlrow.Atomic.New
	if status, _, said := ask(); status != statusDiffers ||
		!strings.Contains(said, "it is said that it breaks oversold, and it breaks oversold, negative_stock") {
		t.Errorf("naive breaks another rule, too: status %d, want %d, and said\n%s", status, statusDiffers, said)
	}
	sqlrow.Naive.New, sqlrow.Naive.Name = honest.New, "new"
	if status, _, said := ask("--quiet"); status != 0 || said != "" {
		t.Errorf("a new strategy that is honest: status %d, want 0, and said\n%s", status, said)
	}
	sqlrow.Naive.Guarantees = catalog.Guarantees{catalog.Oversell: catalog.Holds}
	if status, _, said := ask(); status != statusDiffers || !strings.Contains(said, "new, no oversell: it is said that it holds, and it breaks") {
		t.Errorf("a new strategy that oversells: status %d, want %d, and said\n%s", status, statusDiffers, said)
	}
}
