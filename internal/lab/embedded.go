package lab

import (
	"context"
	"database/sql"
	"fmt"
	"path/filepath"
	"runtime/debug"
	"strings"
	"time"

	"github.com/alicebob/miniredis/v2"
	_ "github.com/ncruces/go-sqlite3/driver"
	_ "github.com/ncruces/go-sqlite3/embed" // the SQLite library itself

	"seckill/internal/backend"
)

func (l *Lab) addSQLite(ctx context.Context) (backend.Status, error) {
	file := filepath.Join(l.folder, "seckill.db")
	version, err := sqliteVersion(ctx, file)
	if err != nil {
		return backend.Status{}, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.config.SQLitePath = file
	return backend.Status{Name: backend.NameMySQL, Tier: backend.Embedded, Address: file, Version: version, OK: true}, nil
}

func sqliteVersion(ctx context.Context, file string) (version string, err error) {
	db, err := sql.Open("sqlite3", "file:"+file)
	if err != nil {
		return "", err
	}
	defer db.Close()
	err = db.QueryRowContext(ctx, "SELECT 'SQLite ' || sqlite_version()").Scan(&version)
	return version, err
}

// addMiniredis runs a Redis inside this process. There is no embedded quorum: its
// five nodes would die together.
func (l *Lab) addMiniredis(context.Context) (backend.Status, error) {
	m := miniredis.NewMiniRedis()
	m.RequireAuth(l.passwords.redis)
	free, err := l.ports.free(1)
	if err != nil {
		return backend.Status{}, err
	}
	if err := m.StartAddr(fmt.Sprintf("127.0.0.1:%d", free[0])); err != nil {
		return backend.Status{}, fmt.Errorf("start the embedded Redis: %w", err)
	}
	stop := make(chan struct{})
	go runClock(m, stop)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closers = append(l.closers, func() error {
		close(stop)
		m.Close()
		return nil
	})
	l.config.RedisAddrs = []string{l.redisURL(m.Addr())}
	return backend.Status{Name: backend.NameRedis, Tier: backend.Embedded, Address: m.Addr(),
		Version: moduleVersion("github.com/alicebob/miniredis"), OK: true}, nil
}

// runClock makes keys expire: miniredis has no clock of its own.
func runClock(m *miniredis.Miniredis, stop <-chan struct{}) {
	ticks := time.NewTicker(10 * time.Millisecond)
	defer ticks.Stop()
	for last := time.Now(); ; {
		select {
		case <-ticks.C:
			now := time.Now()
			m.FastForward(now.Sub(last))
			last = now
		case <-stop:
			return
		}
	}
}

func moduleVersion(path string) string {
	name := path[strings.LastIndexByte(path, '/')+1:]
	if built, ok := debug.ReadBuildInfo(); ok {
		for _, module := range built.Deps {
			if strings.HasPrefix(module.Path, path) {
				return name + " " + strings.TrimPrefix(module.Version, "v")
			}
		}
	}
	return name
}
