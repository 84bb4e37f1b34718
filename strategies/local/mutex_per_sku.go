package local

import (
	"context"
	"embed"
	"fmt"
	"sync"

	"seckill/internal/backend"
	"seckill/internal/catalog"
	"seckill/internal/ledger"
	"seckill/internal/lock"
)

//go:embed mutex_per_sku.go
//go:embed mutex_per_sku.en.md mutex_per_sku.zh.md
var mutexPerSKUFiles embed.FS

// MutexPerSKU is one mutex a SKU.
var MutexPerSKU = catalog.Info{
	Name:   "mutex-per-sku",
	Title:  "One mutex a SKU",
	Family: "local",
	Source: "A, second idea: finer granularity",
	Idea: "As one mutex for the process, but each SKU has its own: " +
		"buyers of other SKUs go on.",
	Promises: "Never oversells and never loses an update while there is " +
		"one process: one buyer a SKU at a time, from his read to " +
		"his COMMIT, in the order in which they came; buyers of " +
		"different SKUs do not meet. It costs no round trip. A " +
		"process that dies, by a crash or a power loss, takes its " +
		"mutexes with it.",
	Breaks: "A second process has mutexes of its own: a buyer here and " +
		"a buyer there read the same number, and the second write " +
		"buries the first. After a power loss the process that is " +
		"started anew may meet its predecessor's open transaction: " +
		"it waits for the row until the server notices. There is no " +
		"lease, so a holder that hangs blocks the buyers of his SKU " +
		"in his process until his own time-outs end him; the others " +
		"are told busy.",
	Guarantees: catalog.Sound.
		Holds(catalog.LostReply, catalog.TwoFaults, catalog.OtherSKUs).
		Breaks(catalog.Processes, catalog.LateCommand),
	Needs: []backend.Capability{backend.SQL},
	Stock: ledger.HomeRow,
	Options: []catalog.Option{{Flag: "--lock-wait",
		Doc: "how long a buyer waits before he is told busy"}},
	Files: mutexPerSKUFiles,
	Locker: func(catalog.Deps) (lock.Locker, error) {
		return &mutexes{byKey: map[string]*counted{}}, nil
	},
	Key: func(sku int64) string { return fmt.Sprint("stock ", sku) },
}

// mutexes are made when they are first asked for, and forgotten when nobody
// holds them or waits for them: anybody may name any SKU.
type mutexes struct {
	mu    sync.Mutex
	byKey map[string]*counted
}

type counted struct {
	mutex
	users int // who hold it or wait for it
}

func (s *mutexes) Acquire(
	ctx context.Context, key string, o lock.Options,
) (lock.Lease, error) {
	m := s.enter(key)
	if err := m.take(ctx, key, o.Wait); err != nil {
		s.leave(key, m)
		return nil, err
	}
	return lock.NewHold(ctx, 0, func(context.Context) error {
		m.mutex <- true
		s.leave(key, m)
		return nil
	}), nil
}

func (s *mutexes) enter(key string) *counted {
	s.mu.Lock()
	defer s.mu.Unlock()
	m := s.byKey[key]
	if m == nil {
		m = &counted{mutex: newMutex()}
		s.byKey[key] = m
	}
	m.users++
	return m
}

func (s *mutexes) leave(key string, m *counted) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if m.users--; m.users == 0 {
		delete(s.byKey, key)
	}
}
