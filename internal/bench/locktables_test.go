package bench

import (
	"context"
	"errors"
	"testing"

	"seckill/internal/backend"
	"seckill/internal/catalog"
	"seckill/internal/lab/labtest"
	"seckill/strategies/mysqllock"
)

func lockTables(t testing.TB) LockTables {
	settings := catalog.DefaultSettings()
	return LockTables{Backends: labtest.Start(t, backend.RowLocks).Config(), Settings: settings, V1: mysqllock.LockTableV1,
		Central: mysqllock.LockTableCentral, Segmented: mysqllock.LockTableSegmented, Workers: 5, Each: 10, Rounds: 2,
		Progress: func(int, int, string) {}}
}

func TestLockTables(t *testing.T) {
	l := lockTables(t)
	ratio, rounds, err := l.Run(t.Context())
	if err != nil || ratio.Low <= 0 || len(rounds) != 2 {
		t.Fatalf("ratio %v, rounds %q, %v", ratio, rounds, err)
	}
	passes, err := l.measure(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for version, all := range passes {
		for _, p := range all {
			if p.took <= 0 || version > 0 && (p.done != 50 || p.deadlocks > 0) {
				t.Errorf("version %d: %v; no deadlocks are possible behind the central rows", version, p)
			}
		}
	}
	var n int64
	in := labtest.Instance(t, backend.SQL, backend.RowLocks)
	err = in.DB.Raw("SELECT COUNT(*) FROM lock_record WHERE name LIKE 'seckill:experiment:%'").Scan(&n).Error
	if err != nil || n != 0 {
		t.Errorf("%d records are left behind, %v", n, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := l.Run(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

// go test -run '^$' -bench LockTables -benchtime 1x ./internal/bench
func BenchmarkLockTables(b *testing.B) {
	l := lockTables(b)
	l.Workers, l.Each, l.Rounds = 50, 100, 1
	for b.Loop() {
		ratio, rounds, err := l.Run(b.Context())
		if err != nil {
			b.Fatal(err)
		}
		b.Log(rounds)
		b.ReportMetric(ratio.Median, "central/segmented")
	}
}
