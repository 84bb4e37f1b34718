package probe

import (
	"context"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"gorm.io/gorm"

	"seckill/internal/backend"
	"seckill/internal/catalog"
	"seckill/internal/ledger"
	"seckill/internal/seckill"
	"seckill/internal/tap"
)

// SQL is the probe of MySQL or MariaDB. It knows more than the others: leases
// that are connections are ended by Kill. The server sees by itself that a process's
// connections close.
type SQL struct {
	db    *gorm.DB
	store *ledger.Store
	locks bool // there are locks in tables
	stock seckill.StockStore
	// Now is what the processes' clocks show: they compare deadlines with it.
	Now func() time.Time
}

// lockTables are the tables that locks are kept in.
var lockTables = []string{"distributed_lock", "lock_record", "lock_row"}

func newSQL(in *backend.Instance, info catalog.Info) *SQL {
	return &SQL{db: in.DB, store: ledger.NewStore(in.DB), locks: info.Family == "mysqllock", stock: info.Stock, Now: time.Now}
}

// expire ends leases that are kept in tables. The end of one in
// distributed_lock is compared with the database's clock, so it is written. A
// deadline in lock_record is compared with the processes' own, which move on with
// it: nothing is written, as a buyer may stand there with the row locked.
func (s *SQL) expire(ctx context.Context, key string, _ *Holder) (did string, err error) {
	if !s.locks {
		return "", nil
	}
	if s.db.Migrator().HasTable("distributed_lock") {
		res := s.db.WithContext(ctx).Exec("UPDATE distributed_lock SET expire = '2000-01-01' "+
			"WHERE name = ? AND expire > '2000-01-02'", key)
		if res.Error != nil {
			return "", res.Error
		}
		if res.RowsAffected > 0 {
			did = "the expire of distributed_lock is past"
		}
	}
	if s.db.Migrator().HasTable("lock_record") {
		var leases int
		err := s.store.Read(ctx, &leases, "SELECT COUNT(*) FROM lock_record WHERE name = ? AND status = 1 AND deadline > ?",
			key, s.Now().UTC())
		if err != nil {
			return "", err
		}
		if leases > 0 {
			did = "the deadline of lock_record is past"
		}
	}
	return did, nil
}

// pieces is what there is to see of a stock that is not in the row.
var pieces = map[seckill.StockStore]struct{ name, list, of string }{
	seckill.InBuckets: {"stock_buckets.num", "num ORDER BY bucket", "stock_buckets WHERE 1"},
	seckill.InUnits:   {"free stock_units", "id ORDER BY id", "stock_units WHERE order_id IS NULL"},
}

// look shows the row of the stock and the records of the lock.
func (s *SQL) look(ctx context.Context, key string, sku int64) (values []Value) {
	if row, err := s.store.SKU(ctx, sku); err == nil {
		values = append(values, Value{"stock.num", strconv.FormatInt(row.Num, 10)})
		if row.Fence > 0 {
			values = append(values, Value{"stock.fence", strconv.FormatInt(row.Fence, 10)})
		}
	}
	if p, ok := pieces[s.stock]; ok {
		var list string
		if s.store.Read(ctx, &list, "SELECT COALESCE(GROUP_CONCAT("+p.list+" SEPARATOR ' '), '') FROM "+p.of+
			" AND sku_id = ? AND run = (SELECT run FROM stock WHERE id = ?)", sku, sku) == nil {
			values = append(values, Value{p.name, list})
		}
	}
	if !s.locks {
		return values
	}
	for _, table := range lockTables {
		row := map[string]any{}
		if s.db.WithContext(ctx).Raw("SELECT * FROM "+table+" WHERE name = ?", key).Scan(&row).Error != nil {
			continue // there is no such table
		}
		for _, column := range slices.Sorted(maps.Keys(row)) {
			if slices.Contains([]string{"owner", "count", "deadline", "expire", "status"}, column) {
				values = append(values, Value{table + "." + column, fmt.Sprint(row[column])})
			}
		}
	}
	return values
}

// Kill has the server close the connections from these ports, and waits
// until it has rolled back what they had begun.
func (s *SQL) Kill(ctx context.Context, ports []string) (killed int, err error) {
	if len(ports) == 0 {
		return 0, nil
	}
	var ids []int64
	err = s.db.WithContext(ctx).Raw("SELECT ID FROM information_schema.PROCESSLIST WHERE DB = DATABASE() AND "+clientPort+" IN ?", ports).Scan(&ids).Error
	if err != nil {
		return 0, fmt.Errorf("find the connections of a process: %w", err)
	}
	for _, id := range ids {
		if s.db.WithContext(ctx).Exec(fmt.Sprint("KILL ", id)).Error == nil { // or it has gone meanwhile
			killed++
		}
	}
	return killed, s.Gone(ctx, ports, false)
}

// clientPort is a connection's port at its client. The host before it may be a
// name: a server that resolves names says localhost. Another client may have the same
// port on its way to another server: only those of this database count.
const clientPort = "SUBSTRING_INDEX(HOST, ':', -1)"

// goneLimit bounds how long a server may take to see that a connection is closed.
const goneLimit = 30 * time.Second

// Gone waits until the server does not know these connections any more: it
// forgets them when it has rolled back. With idle it does not wait for those
// that wait for a row: such a one notices nothing before it has it.
func (s *SQL) Gone(ctx context.Context, ports []string, idle bool) error {
	if len(ports) == 0 {
		return nil
	}
	query := "SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE DB = DATABASE() AND " + clientPort + " IN ?"
	if idle {
		query += " AND COMMAND = 'Sleep'"
	}
	for begun := time.Now(); ; {
		var n int
		if err := s.db.WithContext(ctx).Raw(query, ports).Scan(&n).Error; err != nil {
			return fmt.Errorf("ask the SQL server for its connections: %w", err)
		}
		if n == 0 {
			return nil
		}
		if time.Since(begun) > goneLimit {
			return fmt.Errorf("%d connections were closed %v ago, and the SQL server still has them", n, goneLimit)
		}
		time.Sleep(200 * time.Microsecond)
	}
}

// What InnoDB's status says of a transaction.
var (
	itsThread = regexp.MustCompile(`M(?:ariaDB|ySQL) thread id (\d+),`)
	itsLocks  = regexp.MustCompile(`(LOCK WAIT )?\d+ lock struct\(s\), heap size \d+, (\d+) row lock\(s\)`)
	waitsFor  = regexp.MustCompile(`FOR THIS LOCK TO BE GRANTED:\s+(?:RECORD LOCKS .* index (\S+) of|TABLE LOCK) table (\S+) .*lock[_ ]mode (\S+)`)
)

// waits lists the connections of this database that wait for a row or a user lock now.
// The tables INNODB_LOCK_WAITS and INNODB_TRX would not do: MariaDB's cache of them stays
// as it is for as long as it is read.
func (s *SQL) waits(ctx context.Context) (list []Wait, err error) {
	var innodb struct{ Status string }
	var connections []struct{ ID, Port, State string }
	if err = s.db.WithContext(ctx).Raw("SHOW ENGINE INNODB STATUS").Scan(&innodb).Error; err == nil {
		err = s.db.WithContext(ctx).Raw("SELECT ID AS id, " + clientPort + " AS port, STATE AS state FROM information_schema.PROCESSLIST " +
			"WHERE DB = DATABASE()").Scan(&connections).Error
	}
	if err != nil {
		return nil, fmt.Errorf("ask the SQL server for its waiters: %w", err)
	}
	ports := map[string]string{} // by the number of the connection's thread
	for _, c := range connections {
		ports[c.ID] = c.Port
		if c.State == "User lock" {
			list = append(list, Wait{Backend: tap.SQL, Port: c.Port, Why: "the server's list of processes says: User lock (GET_LOCK)"})
		}
	}
	var rows []Wait
	var holders []string
	for _, transaction := range strings.Split(innodb.Status, "---TRANSACTION ")[1:] {
		thread, locks := itsThread.FindStringSubmatch(transaction), itsLocks.FindStringSubmatch(transaction)
		if thread == nil || locks == nil || ports[thread[1]] == "" {
			continue
		}
		switch port := ports[thread[1]]; {
		case locks[1] != "":
			rows = append(rows, Wait{Backend: tap.SQL, Port: port, Why: why(transaction)})
		case locks[2] != "0":
			holders = append(holders, port)
		}
	}
	if strings.Contains(innodb.Status, "MySQL thread id") { // and not MariaDB's: it leaves out those that have written nothing
		var ids []string
		err = s.db.WithContext(ctx).Raw("SELECT DISTINCT PROCESSLIST_ID FROM performance_schema.data_lock_waits " +
			"JOIN performance_schema.threads ON THREAD_ID = REQUESTING_THREAD_ID").Scan(&ids).Error
		for _, id := range ids {
			if port := ports[id]; port != "" && !slices.ContainsFunc(rows, func(w Wait) bool { return w.Port == port }) {
				rows = append(rows, Wait{Backend: tap.SQL, Port: port, Why: why("")})
			}
		}
	}
	for i := range rows {
		rows[i].Holders = holders
	}
	return append(list, rows...), err
}

// why says which lock a transaction waits for.
func why(transaction string) string {
	m := waitsFor.FindStringSubmatch(transaction)
	if m == nil {
		return "the SQL server counts it among those that wait for a lock"
	}
	index, table := m[1], strings.ReplaceAll(m[2], "`", "")
	text := fmt.Sprintf("waits for the lock %s on %s", m[3], table[strings.LastIndex(table, ".")+1:])
	if index != "" {
		text += ", index " + strings.ReplaceAll(index, "`", "")
	}
	return text
}
