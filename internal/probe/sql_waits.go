package probe

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"
)

// A Wait is a connection that waits for a lock, by the SQL server's own word.
type Wait struct {
	Port  string   // of the connection that waits, at its client
	Why   string   // "waits for an X lock on stock.PRIMARY"
	Ports []string // of the connections that have what it waits for
}

// Where each server keeps who waits for whom.
const (
	waitsInMySQL = "SELECT r.DB AS db, " + waiterPort + " AS port, l.LOCK_MODE AS mode, l.OBJECT_NAME AS name, COALESCE(l.INDEX_NAME, '') AS idx, " +
		"COALESCE(" + holderPort + ", '') AS holder FROM performance_schema.data_lock_waits w " +
		"JOIN performance_schema.data_locks l ON l.ENGINE_LOCK_ID = w.REQUESTING_ENGINE_LOCK_ID " +
		"JOIN performance_schema.threads rt ON rt.THREAD_ID = w.REQUESTING_THREAD_ID " +
		"JOIN information_schema.PROCESSLIST r ON r.ID = rt.PROCESSLIST_ID " +
		"LEFT JOIN performance_schema.threads bt ON bt.THREAD_ID = w.BLOCKING_THREAD_ID " +
		"LEFT JOIN information_schema.PROCESSLIST b ON b.ID = bt.PROCESSLIST_ID"
	waitsInMariaDB = "SELECT r.DB AS db, " + waiterPort + " AS port, l.lock_mode AS mode, l.lock_table AS name, COALESCE(l.lock_index, '') AS idx, " +
		"COALESCE(" + holderPort + ", '') AS holder FROM information_schema.INNODB_LOCK_WAITS w " +
		"JOIN information_schema.INNODB_TRX rt ON rt.trx_id = w.requesting_trx_id " +
		"JOIN information_schema.INNODB_LOCKS l ON l.lock_id = w.requested_lock_id " +
		"JOIN information_schema.PROCESSLIST r ON r.ID = rt.trx_mysql_thread_id " +
		"LEFT JOIN information_schema.INNODB_TRX bt ON bt.trx_id = w.blocking_trx_id " +
		"LEFT JOIN information_schema.PROCESSLIST b ON b.ID = bt.trx_mysql_thread_id"
	waiterPort = "SUBSTRING_INDEX(r.HOST, ':', -1)"
	holderPort = "SUBSTRING_INDEX(b.HOST, ':', -1)"

	userLocks = "SELECT " + clientPort + " FROM information_schema.PROCESSLIST WHERE STATE = 'User lock' AND DB = DATABASE()"
)

// MariaDB shows these tables from a cache, and fills it again only if 100 ms have
// passed since the last query (trx0i_s.cc). So all here share a query, and let the
// cache rest after it.
const cacheRests = 110 * time.Millisecond

// sharedWaits are what one server shows. A caller needs rows that were read after it
// came, so it may share a query that has not begun, and never one under way.
type sharedWaits struct {
	mu     sync.Mutex
	began  time.Time
	rested time.Time // no query begins before
	rows   []waitRow
}

func (s *sharedWaits) since(
	ctx context.Context, came time.Time, read func(context.Context) ([]waitRow, error),
) ([]waitRow, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.began.After(came) {
		return s.rows, nil
	}
	pause := time.NewTimer(time.Until(s.rested))
	defer pause.Stop()
	select {
	case <-pause.C:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	began := time.Now()
	rows, err := read(ctx)
	s.rested = time.Now().Add(cacheRests)
	if err == nil {
		s.began, s.rows = began, rows
	}
	return rows, err
}

type waitRow struct{ DB, Port, Mode, Name, Idx, Holder string }

var shown sync.Map // of *sharedWaits, by the server's name and port

// Waits lists the connections of this database that wait for a row or a user lock
// now. What the server does not show is left out. It takes a tenth of a second
// where another has just asked MariaDB.
func (s *SQL) Waits(ctx context.Context) (list []Wait) {
	for _, r := range s.waitRows(ctx) {
		i := slices.IndexFunc(list, func(w Wait) bool { return w.Port == r.Port })
		switch {
		case r.DB != s.database:
		case i >= 0: // several have it
			list[i].Ports = append(list[i].Ports, r.Holder)
		default:
			table := strings.ReplaceAll(r.Name, "`", "")
			table = table[strings.LastIndex(table, ".")+1:]
			why := fmt.Sprintf("waits for the lock %s on %s", r.Mode, table)
			if r.Idx != "" {
				why += ", index " + r.Idx
			}
			list = append(list, Wait{r.Port, why, []string{r.Holder}})
		}
	}
	var ports []string
	if s.db.WithContext(ctx).Raw(userLocks).Scan(&ports).Error == nil {
		for _, port := range ports {
			list = append(list, Wait{port, "the server's list of processes says: User lock (GET_LOCK)", nil})
		}
	}
	return list
}

// waitRows are those of every database of the server; none, if it does not tell.
func (s *SQL) waitRows(ctx context.Context) []waitRow {
	query := waitsInMySQL
	read := func(ctx context.Context) (rows []waitRow, err error) {
		err = s.db.WithContext(ctx).Raw(query).Scan(&rows).Error
		return rows, err
	}
	if !s.mariaDB {
		rows, _ := read(ctx)
		return rows
	}
	query = waitsInMariaDB
	last, _ := shown.LoadOrStore(s.server, new(sharedWaits))
	rows, _ := last.(*sharedWaits).since(ctx, time.Now(), read)
	return rows
}
