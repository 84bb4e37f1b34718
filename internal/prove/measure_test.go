package prove_test

import (
	"context"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"seckill/internal/backend"
	"seckill/internal/catalog"
	"seckill/internal/lab/labtest"
	"seckill/internal/prove"
	"seckill/strategies"
)

// budget limits searches that a test is not about.
const budget = 300 * time.Millisecond

// measure asks the questions on real servers of every kind.
func measure(t *testing.T, questions []string, names ...string) map[string]map[string]prove.Cell {
	t.Helper()
	l := labtest.Start(t, backend.SQL, backend.Redis, backend.ZooKeeper, backend.Etcd)
	var infos []catalog.Info
	for _, name := range names {
		infos = append(infos, strategies.Named(name))
	}
	m, err := prove.Run(t.Context(), prove.Options{Infos: infos, Questions: questions, Workers: 1, Schedules: bound(20),
		Budget: time.Minute, // the number of schedules is the limit, so that a busy machine finds the same violations
		Seed:   1, Servers: func(context.Context) (prove.Servers, error) { return servers{l}, nil }})
	labtest.Must(t, err)
	cells := map[string]map[string]prove.Cell{}
	for _, r := range m.Rows {
		cells[r.Strategy] = r.Cells
	}
	return cells
}

// How a buyer waits, in which order buyers are served, and what a hanging holder does to the next
// buyer are properties of the lock, not of the stock row that every purchase writes. A strategy
// without a lock has no answer.
func TestLocksAreMeasuredAtTheLock(t *testing.T) {
	names := []string{"conditional", "mutex-per-sku", "get-lock", "redis-lua"} // one for each answer
	if labtest.Verify {
		names = append(names, "version", "redis-counter-mysql", "for-update", "for-update-nowait", "for-update-autocommit", "mutex-per-request",
			"snapshot-first", "lock-insert", "lock-table-central", "redis-setex", "redis-watchdog", "redis-lock-mysql", "zk", "etcd")
	}
	wants, short := published(t), func(c prove.Cell) string { return string(c.Answer) + ": " + strings.SplitN(c.Text, ";", 2)[0] }
	questions := []string{"hung-holder", "waits", "order"}
	for name, cells := range measure(t, questions, names...) {
		for _, q := range questions {
			if got, want := short(cells[q]), short(wants[name][q]); got != want || want == ": " {
				t.Errorf("%s, %s: %s, and the matrix in the program says %s", name, q, got, want)
			}
		}
	}
}

// The time after a death starts at the death. It is the rest of the lease (etcd's holder renews its
// lease every third of it) plus the time until the server notices. It does not wait for the dead
// buyer's calls to fail.
func TestTimeAfterDeathBeginsAtTheDeath(t *testing.T) {
	const lease, bound = 2.0, 2.0 // seconds; etcd looks for ended leases twice a second
	leases := map[string]float64{"etcd": lease * 2 / 3 * 0.95}
	if labtest.Verify {
		leases["redis-lua"] = lease * 0.9
	}
	cells := measure(t, []string{"dead-holder"}, append(slices.Sorted(maps.Keys(leases)), "get-lock")...)
	for name, least := range leases {
		c := cells[name]["dead-holder"]
		if c.Answer != prove.Holds || c.Wait < least || c.Wait > lease+bound {
			t.Errorf("%s: %s after %.2f s, want at least %.2f s and at most %.2f s", name, c.Summary(), c.Wait, least, lease+bound)
		}
	}
	if c := cells["get-lock"]["dead-holder"]; c.Answer != prove.Holds || c.Wait != 0 {
		t.Errorf("get-lock: %s after %.2f s, want at once: its lock ends with its connection", c.Summary(), c.Wait)
	}
}
