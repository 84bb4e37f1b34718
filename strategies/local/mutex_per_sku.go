package local

import (
	"context"
	"fmt"
	"sync"

	"seckill/internal/backend"
	"seckill/internal/catalog"
	"seckill/internal/lock"
	"seckill/internal/seckill"
)

// MutexPerSKU locks one mutex for each SKU. A second process has mutexes of
// its own, and updates are lost between the two processes.
var MutexPerSKU = catalog.Info{
	Name:   "mutex-per-sku",
	Source: "A, second idea: finer granularity",
	Guarantees: catalog.Sound.
		Holds(catalog.LostReply, catalog.TwoFaults, catalog.OtherSKUs).
		Breaks(catalog.Processes, catalog.LateCommand),
	Needs:  []backend.Capability{backend.SQL},
	Repair: "get-lock",
	Stock:  seckill.InRow,
	Also:   []string{"mutex.go"},
	Locker: func(catalog.Deps) (lock.Locker, error) {
		return &skuMutexes{byKey: map[string]*countedMutex{}}, nil
	},
	Key: func(sku int64) string { return fmt.Sprint("stock ", sku) },
}

// skuMutexes makes a mutex at its first use and removes it after the last.
// Requests may name any SKU, so keeping every mutex would fill the memory.
type skuMutexes struct {
	mu    sync.Mutex
	byKey map[string]*countedMutex
}

type countedMutex struct {
	mutex
	users int // holders and waiters
}

func (s *skuMutexes) Acquire(
	ctx context.Context, key string, o lock.Options,
) (lock.Lease, error) {
	m := s.addUser(key)
	if err := m.waitForToken(ctx, key, o.Wait); err != nil {
		s.removeUser(key, m)
		return nil, err
	}
	return lock.NewHold(ctx, 0, func(context.Context) error {
		m.mutex <- true
		s.removeUser(key, m)
		return nil
	}), nil
}

func (s *skuMutexes) addUser(key string) *countedMutex {
	s.mu.Lock()
	defer s.mu.Unlock()
	m := s.byKey[key]
	if m == nil {
		m = &countedMutex{mutex: newMutex()}
		s.byKey[key] = m
	}
	m.users++
	return m
}

func (s *skuMutexes) removeUser(key string, m *countedMutex) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if m.users--; m.users == 0 {
		delete(s.byKey, key)
	}
}
