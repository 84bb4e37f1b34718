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
)

// budget of a search that is not what a test is about.
const budget = 300 * time.Millisecond

// measure asks real servers of every kind.
func measure(t *testing.T, workers int, questions []string, names ...string) map[string]map[string]prove.Cell {
	t.Helper()
	l := labtest.Start(t, backend.SQL, backend.Redis, backend.ZooKeeper, backend.Etcd)
	var infos []catalog.Info
	for _, name := range names {
		infos = append(infos, named(t, name))
	}
	m, err := prove.Run(t.Context(), prove.Options{Infos: infos, Questions: questions, Workers: workers, Schedules: bound(20),
		Budget: time.Minute, // the schedules bound it: a busy machine must find that two processes break a mutex
		Seed:   1, Servers: func(context.Context) (prove.Servers, error) { return servers{l}, nil }})
	if err != nil {
		t.Fatal(err)
	}
	cells := map[string]map[string]prove.Cell{}
	for _, r := range m.Rows {
		cells[r.Strategy] = r.Cells
	}
	return cells
}

// How a buyer waits, in which order buyers are served, and what a holder that
// hangs does to the next one are the lock's answers, not those of the row that
// every purchase writes; and what is not a lock has none.
func TestLocksAreMeasuredAtTheLock(t *testing.T) {
	const (
		queues, polls, told, local = "queues in the server", "polls", "is told", "queues in the process"
		fifo, luck                 = "in order", "luck decides"
		waits, getsIn              = "the next waits", "the next gets in"
		blank                      = "–"
	)
	// make test asks one for each answer.
	short := []string{"conditional", "mutex-per-sku", "get-lock", "redis-lua"}
	wants := []struct{ strategy, waits, order, hung string }{
		{"conditional", blank, blank, blank},
		{"version", blank, blank, blank},
		{"redis-counter-mysql", blank, blank, blank},
		{"for-update", queues, fifo, waits},
		{"for-update-nowait", "does not wait", "no queue", "the next is told busy"},
		{"for-update-autocommit", "does not wait", "no queue", blank},
		{"mutex-per-request", "does not wait", "no queue", blank},
		{"mutex-per-sku", local, fifo, waits},
		{"get-lock", queues, fifo, waits},
		{"snapshot-first", queues, fifo, blank},
		{"lock-insert", polls, luck, getsIn},
		{"lock-table-central", polls, luck, getsIn}, // at the COMMIT it queued for the row
		{"redis-setex", "does not wait", "no queue", blank},
		{"redis-lua", polls, luck, getsIn},
		{"redis-watchdog", told, luck, waits},
		{"redis-lock-mysql", polls, luck, waits}, // the row's lock outlives the lease
		{"zk", told, fifo, waits},
		{"etcd", told, fifo, waits},
	}
	var names []string
	for _, w := range wants {
		if labtest.Verify || slices.Contains(short, w.strategy) {
			names = append(names, w.strategy)
		}
	}
	cells := measure(t, 1, []string{"hung-holder", "waits", "order"}, names...)
	for _, w := range wants {
		if !slices.Contains(names, w.strategy) {
			continue
		}
		for question, want := range map[string]string{"waits": w.waits, "order": w.order, "hung-holder": w.hung} {
			c := cells[w.strategy][question]
			got, _, _ := strings.Cut(c.Text, ";")
			if c.Answer == prove.NotAsked {
				got = blank
			}
			if got != want {
				t.Errorf("%s, %s: %s, want %q", w.strategy, question, c.Summary(), want)
			}
		}
	}
}

// The time after a death begins at the death. It is what was left of the
// lease, which etcd's holder renews every third of it, and the time in which
// the server notices; not the rest after the dead buyer's calls have failed.
func TestTimeAfterDeathBeginsAtTheDeath(t *testing.T) {
	const lease, bound = 2.0, 2.0 // seconds; etcd looks for ended leases twice a second
	leases := map[string]float64{"etcd": lease * 2 / 3 * 0.95}
	if labtest.Verify {
		leases["redis-lua"] = lease * 0.9
	}
	cells := measure(t, 1, []string{"dead-holder"}, append(slices.Sorted(maps.Keys(leases)), "get-lock")...)
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
