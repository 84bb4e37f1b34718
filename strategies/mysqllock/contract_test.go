package mysqllock

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"gorm.io/gorm"

	"seckill/internal/catalog"
	"seckill/internal/lock"
	"seckill/internal/lock/locktest"
	"seckill/internal/tap"
)

func TestContract(t *testing.T) {
	const row = locktest.Expires | locktest.Clears
	// A release deletes by name: whoever's lock it is, and as often as it is asked.
	byName := []locktest.Promise{locktest.Owner, locktest.ReleaseOnce}
	endless := append(byName, locktest.Death, locktest.LostReply)
	for _, c := range []struct {
		info   catalog.Info
		can    locktest.Can
		breaks []locktest.Promise
	}{
		{LockInsertPlain, locktest.Clears, endless},
		{LockInsertByName, row, byName},
		{LockInsert, locktest.Expires | locktest.Tells | locktest.Undoes | locktest.Renews | locktest.Limits |
			locktest.Reenters | locktest.Decides, nil},
		{LockTableV1, locktest.Clears, endless},
		{LockTableCentral, row, byName},
		{LockTableSegmented, row, byName},
		{LockRow, locktest.Undoes | locktest.Bound, nil},
		{GetLock, locktest.Undoes | locktest.Bound, nil},
	} {
		t.Run(c.info.Name, func(t *testing.T) {
			h := harness(t, c.info)
			h.Can, h.Breaks = c.can, c.breaks
			if c.can&locktest.Expires == 0 {
				h.Lease = 0
			}
			if !h.Alone {
				t.Parallel()
			}
			locktest.Run(t, h)
		})
	}
}

func harness(t *testing.T, info catalog.Info) locktest.Harness {
	operator := newBench(t, info)
	h := locktest.Harness{Key: "test:" + info.Name, Open: locktest.Open(info), Lease: 200 * time.Millisecond, Alone: true}
	if info.Name == LockInsert.Name || info.Name == LockRow.Name || info.Name == GetLock.Name {
		h.Alone = false // no deadlocks between keys
	}
	for _, other := range []catalog.Info{LockInsert, LockTableCentral} { // all tables are there
		newBench(t, other)
	}
	h.Seen = func(t testing.TB, key string) (seen []string) {
		err := operator.in.DB.WithContext(context.Background()).Raw(
			"SELECT CONCAT('row of ', owner) FROM distributed_lock WHERE name = ? "+
				"UNION ALL SELECT 'record' FROM lock_record WHERE name = ? AND status = 1 "+
				"UNION ALL SELECT CONCAT('lock of ', IS_USED_LOCK(?)) FROM DUAL WHERE IS_USED_LOCK(?) IS NOT NULL "+
				"UNION ALL SELECT 'statement' FROM information_schema.PROCESSLIST WHERE INFO LIKE ? AND ID <> CONNECTION_ID()",
			key, key, key, key, "%"+key+"%").Scan(&seen).Error
		if err != nil {
			t.Fatal(err)
		}
		return seen
	}
	foreign := locktest.Foreign{Name: "a row without an end", Take: func(_ testing.TB, key string) (func(), bool) {
		err := operator.in.DB.Exec("INSERT INTO distributed_lock (name) VALUES (?)", key).Error
		return func() { operator.exec(t, "DELETE FROM distributed_lock WHERE name = ?", key) }, err == nil
	}}
	switch info.Name {
	case LockRow.Name, GetLock.Name: // whose waits the server counts, in seconds
		h.Waits = []time.Duration{1100 * time.Millisecond, 3 * time.Second}
		h.Waiting = func(c *tap.Command) bool {
			return strings.Contains(c.Text, "FOR UPDATE") || strings.Contains(c.Text, "GET_LOCK")
		}
		h.End = func(t testing.TB, _ string, l lock.Lease) func() {
			kill := fmt.Sprint("KILL ", connectionOf(t, l))
			return func() { operator.in.DB.Exec(kill) }
		}
		foreign = locktest.Foreign{Name: "GET_LOCK", Take: func(t testing.TB, key string) (func(), bool) {
			return getLockOf(t, operator.in.DB, key)
		}}
	default:
		h.End = func(t testing.TB, key string, _ lock.Lease) func() {
			if info.Name == LockInsertPlain.Name || info.Name == LockTableV1.Name {
				return func() { // no lease: an operator
					operator.in.DB.Exec("DELETE FROM distributed_lock WHERE name = ?", key)
					operator.in.DB.Exec("DELETE FROM lock_record WHERE name = ?", key)
				}
			}
			return func() {
				operator.in.DB.Exec("UPDATE distributed_lock SET expire = '2000-01-01' WHERE name = ?", key)
				operator.in.DB.Exec("UPDATE lock_record SET deadline = '2000-01-01' WHERE name = ?", key)
			}
		}
	}
	if info.Name == GetLock.Name || strings.HasPrefix(info.Name, "lock-insert") {
		h.Foreign = []locktest.Foreign{foreign}
	}
	return h
}

// getLockOf is a foreign client of GET_LOCK on a connection of its own; it
// also tries to release a lock that is not its own.
func getLockOf(t testing.TB, db *gorm.DB, key string) (free func(), ok bool) {
	pool, err := db.DB()
	if err != nil {
		t.Fatal(err)
	}
	conn, err := pool.Conn(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	ask := func(query string) (answer int) {
		if err := conn.QueryRowContext(context.Background(), query, key).Scan(&answer); err != nil {
			t.Error(err)
		}
		return answer
	}
	free = func() {
		ask("SELECT RELEASE_LOCK(?)")
		conn.Close()
	}
	if ask("SELECT GET_LOCK(?, 0)") == 1 {
		return free, true
	}
	if ask("SELECT COALESCE(RELEASE_LOCK(?), 0)") != 0 { // NULL: it is free by now
		t.Error("a foreign client freed our lock")
	}
	conn.Close()
	return nil, false
}
