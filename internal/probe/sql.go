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

	"seckill/internal/ledger"
	"seckill/internal/seckill"
	"seckill/internal/tap"
)

// SQL probes MySQL or MariaDB. Its method Kill ends a lock that lasts as long as a connection.
type SQL struct {
	db        *gorm.DB
	database  string // the name of the database
	store     *ledger.Store
	lockTable string // the table with the strategy's locks; "" if there is none
	stock     seckill.StockStore
	// Now returns the time that the clocks of the processes show. The processes compare this time with deadlines.
	Now func() time.Time
}

// expire ends leases in tables. A lease in distributed_lock is compared with the database's clock, so expire moves
// this lease into the past. A deadline in lock_record is compared with the processes' clocks, which the explorer
// moves ahead. So expire need not change that row, which a buyer may have locked.
func (s *SQL) expire(ctx context.Context, key string, _ int64, _ *Holder) (string, error) {
	switch s.lockTable {
	case "distributed_lock":
		res := s.db.WithContext(ctx).Exec("UPDATE distributed_lock SET expire = '2000-01-01' "+
			"WHERE name = ? AND expire > '2000-01-02'", key)
		if res.RowsAffected > 0 {
			return "the expire of distributed_lock is past", res.Error
		}
		return "", res.Error
	case "lock_record":
		var leases int
		err := s.store.Read(ctx, &leases, "SELECT COUNT(*) FROM lock_record "+
			"WHERE name = ? AND status = 1 AND deadline > ?", key, s.Now().UTC())
		if leases > 0 {
			return "the deadline of lock_record is past", err
		}
		return "", err
	}
	return "", nil
}

var stockQueries = map[seckill.StockStore]struct{ name, list, of string }{
	seckill.InBuckets: {"stock_buckets.num", "num ORDER BY bucket", "stock_buckets WHERE 1"},
	seckill.InUnits:   {"free stock_units", "id ORDER BY id", "stock_units WHERE order_id IS NULL"},
}

func (s *SQL) values(ctx context.Context, key string, sku int64) []Value {
	var values []Value
	if row, err := s.store.SKU(ctx, sku); err == nil {
		values = append(values, Value{"stock.num", strconv.FormatInt(row.Num, 10)})
		if row.Fence > 0 {
			values = append(values, Value{"stock.fence", strconv.FormatInt(row.Fence, 10)})
		}
	}
	if p, ok := stockQueries[s.stock]; ok {
		var list string
		if s.store.Read(ctx, &list, "SELECT COALESCE(GROUP_CONCAT("+p.list+" SEPARATOR ' '), '') FROM "+p.of+
			" AND sku_id = ? AND run = (SELECT run FROM stock WHERE id = ?)", sku, sku) == nil {
			values = append(values, Value{p.name, list})
		}
	}
	if s.lockTable == "" {
		return values
	}
	row := map[string]any{}
	query := "SELECT * FROM " + s.lockTable + " WHERE name = ?"
	if s.db.WithContext(ctx).Raw(query, key).Scan(&row).Error != nil {
		return values
	}
	for _, column := range slices.Sorted(maps.Keys(row)) {
		if slices.Contains([]string{"owner", "count", "deadline", "expire", "status"}, column) {
			values = append(values, Value{s.lockTable + "." + column, fmt.Sprint(row[column])})
		}
	}
	return values
}

// giveUp does nothing, because the server itself notices that the connections of a dead process close.
func (s *SQL) giveUp(context.Context, string, *Holder) ([]string, error) { return nil, nil }

// Kill makes the server close the connections from the given ports, and waits until the server
// has rolled back their transactions.
func (s *SQL) Kill(ctx context.Context, ports []string) (int, error) {
	if len(ports) == 0 {
		return 0, nil
	}
	connections, err := s.connections(ctx)
	if err != nil {
		return 0, err
	}
	killed := 0
	for _, c := range connections {
		// KILL fails if the connection has closed meanwhile, and then there is nothing to do.
		if slices.Contains(ports, c.port()) && s.db.WithContext(ctx).Exec("KILL "+c.ID).Error == nil {
			killed++
		}
	}
	return killed, s.AwaitClosed(ctx, ports, false)
}

type connection struct {
	ID       string `gorm:"column:Id"` // id of the connection's thread in the server
	Host     string `gorm:"column:Host"`
	Database string `gorm:"column:db"`
	State    string `gorm:"column:State"`
}

// port returns the port of the client. The host before the port may be an address or a name.
func (c connection) port() string { return c.Host[strings.LastIndex(c.Host, ":")+1:] }

// connections returns the connections to this database. It leaves out clients of other databases, because callers look
// up a client by its port, and a client on another host may have the same port. The function does not read
// information_schema.PROCESSLIST, because MariaDB creates a temporary table in a file for each query on this table.
func (s *SQL) connections(ctx context.Context) ([]connection, error) {
	var list []connection
	if err := s.db.WithContext(ctx).Raw("SHOW PROCESSLIST").Scan(&list).Error; err != nil {
		return nil, fmt.Errorf("ask the SQL server for its connections: %w", err)
	}
	return slices.DeleteFunc(list, func(c connection) bool { return !strings.EqualFold(c.Database, s.database) }), nil
}

// closeLimit is the maximum time that a server may take to notice that a connection is closed.
const closeLimit = 30 * time.Second

// AwaitClosed waits until the server no longer lists the connections from the given ports. The server removes a
// connection from its list after it has rolled back the transaction. If exceptWaiting is true, AwaitClosed ignores
// connections that wait for a lock, because the server notices their end only when they get the lock.
func (s *SQL) AwaitClosed(ctx context.Context, ports []string, exceptWaiting bool) error {
	if len(ports) == 0 {
		return nil
	}
	for begun := time.Now(); ; {
		open, err := s.connections(ctx)
		if err != nil {
			return err
		}
		open = slices.DeleteFunc(open, func(c connection) bool { return !slices.Contains(ports, c.port()) })
		if exceptWaiting && len(open) > 0 {
			waits, err := s.waits(ctx)
			if err != nil {
				return err
			}
			open = slices.DeleteFunc(open, func(c connection) bool {
				return slices.ContainsFunc(waits, func(w Wait) bool { return w.Port == c.port() })
			})
		}
		if len(open) == 0 {
			return nil
		}
		if time.Since(begun) > closeLimit {
			return fmt.Errorf("%d connections were closed %v ago, and the SQL server still has them", len(open), closeLimit)
		}
		time.Sleep(200 * time.Microsecond)
	}
}

// These expressions match parts of a transaction's text in SHOW ENGINE INNODB STATUS.
var (
	itsThread = regexp.MustCompile(`M(?:ariaDB|ySQL) thread id (\d+),`)
	itsLocks  = regexp.MustCompile(`(LOCK WAIT )?\d+ lock struct\(s\), heap size \d+, (\d+) row lock\(s\)`)
	waitsFor  = regexp.MustCompile(`FOR THIS LOCK TO BE GRANTED:\s+(?:RECORD LOCKS .* index (\S+) of|TABLE LOCK) table (\S+) .*lock[_ ]mode (\S+)`)
)

// waits returns the connections of this database that wait for a row or for a user lock (GET_LOCK). It does not use
// the tables INNODB_LOCK_WAITS and INNODB_TRX. MariaDB caches them, and does not refresh the cache while it is being
// read.
func (s *SQL) waits(ctx context.Context) (list []Wait, err error) {
	var innodb struct{ Status string }
	if err = s.db.WithContext(ctx).Raw("SHOW ENGINE INNODB STATUS").Scan(&innodb).Error; err != nil {
		return nil, fmt.Errorf("ask the SQL server for its waiters: %w", err)
	}
	connections, err := s.connections(ctx)
	if err != nil {
		return nil, err
	}
	ports := map[string]string{} // maps the id of a connection's thread to the port of its client
	for _, c := range connections {
		ports[c.ID] = c.port()
		if c.State == "User lock" {
			list = append(list, Wait{Backend: tap.SQL, Port: c.port(),
				Why: "the server's list of processes says: User lock (GET_LOCK)"})
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
			rows = append(rows, Wait{Backend: tap.SQL, Port: port, Why: waitReason(transaction)})
		case locks[2] != "0":
			holders = append(holders, port)
		}
	}
	// MySQL's status lacks transactions that have written nothing. So a wait of such a transaction is read from the
	// performance schema.
	if strings.Contains(innodb.Status, "MySQL thread id") {
		var ids []string
		err = s.db.WithContext(ctx).Raw("SELECT DISTINCT PROCESSLIST_ID FROM performance_schema.data_lock_waits " +
			"JOIN performance_schema.threads ON THREAD_ID = REQUESTING_THREAD_ID").Scan(&ids).Error
		for _, id := range ids {
			port := ports[id]
			if port != "" && !slices.ContainsFunc(rows, func(w Wait) bool { return w.Port == port }) {
				rows = append(rows, Wait{Backend: tap.SQL, Port: port, Why: waitReason("")})
			}
		}
	}
	for i := range rows {
		rows[i].Holders = holders
	}
	return append(list, rows...), err
}

func waitReason(transaction string) string {
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
