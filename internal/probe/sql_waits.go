package probe

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"gorm.io/gorm"
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

// MariaDB shows these tables from a cache, which it fills again when nobody has
// looked for 100 ms (trx0i_s.cc). So everybody here looks together, and not sooner.
const cacheRests = 110 * time.Millisecond

// A look is what a server has shown last of all who wait for rows.
type look struct {
	mu   sync.Mutex
	at   time.Time // when it began
	rows []waitRow
}

type waitRow struct{ DB, Port, Mode, Name, Idx, Holder string }

var looks sync.Map // of *look, by the server's name and port

// since returns what the server shows after that time.
func (l *look) since(ctx context.Context, db *gorm.DB, query string, after time.Time) []waitRow {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.at.After(after) {
		return l.rows
	}
	select {
	case <-time.After(time.Until(l.at.Add(cacheRests))):
	case <-ctx.Done():
		return nil
	}
	at, rows := time.Now(), []waitRow{}
	if db.WithContext(ctx).Raw(query).Scan(&rows).Error != nil {
		return nil
	}
	l.at, l.rows = at, rows
	return rows
}

// Waits lists the connections of this database that wait for a row or a user lock
// now. What the server does not show is left out. It takes a tenth of a second
// where another has just asked MariaDB.
func (s *SQL) Waits(ctx context.Context) (list []Wait) {
	var rows []waitRow
	if s.mariaDB {
		l, _ := looks.LoadOrStore(s.server, new(look))
		rows = l.(*look).since(ctx, s.db, waitsInMariaDB, time.Now())
	} else {
		s.db.WithContext(ctx).Raw(waitsInMySQL).Scan(&rows)
	}
	for _, r := range rows {
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
