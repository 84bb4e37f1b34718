package sqlrow

import (
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/go-sql-driver/mysql"

	"seckill/internal/backend"
	"seckill/internal/lab/labtest"
)

// A session is one connection that waits for a row no longer than it must.
type session struct {
	*testing.T
	*sql.Conn
}

func newSession(t *testing.T, in *backend.Instance) session {
	t.Helper()
	db, err := in.DB.DB()
	labtest.Must(t, err)
	c, err := db.Conn(t.Context())
	labtest.Must(t, err)
	t.Cleanup(func() { c.Close() })
	s := session{t, c}
	s.do("SET SESSION innodb_lock_wait_timeout = 1")
	return s
}

func (s session) do(statement string, args ...any) {
	s.Helper()
	if _, err := s.ExecContext(s.Context(), statement, args...); err != nil {
		s.Fatalf("%s: %v", statement, err)
	}
}

// waits says whether a statement has to wait for somebody.
func (s session) waits(statement string, args ...any) bool {
	s.Helper()
	_, err := s.ExecContext(s.Context(), statement, args...)
	var answer *mysql.MySQLError
	if errors.As(err, &answer) && (answer.Number == 1205 || answer.Number == 3572) {
		return true
	}
	if err != nil {
		s.Fatalf("%s: %v", statement, err)
	}
	return false
}

// locked are the rows of a table that somebody else holds.
func (s session) locked(table string, ids ...int64) (held []int64) {
	s.Helper()
	for _, id := range ids {
		if s.waits(fmt.Sprintf("SELECT id FROM %s WHERE id = %d FOR UPDATE NOWAIT", table, id)) {
			held = append(held, id)
		}
	}
	return held
}

// "Row locks are only used when the query goes through an index, otherwise the
// table is locked; and if it finds nothing, the table is locked as well; row
// locks are not reliable when the table is small." What is true of that: what
// is read is locked, so the plan decides. A key that finds one row is the plan
// for tables of any size; what finds nothing locks the gap that it looked at;
// and no table is ever locked as a whole.
func TestWhatForUpdateLocks(t *testing.T) {
	in := labtest.Instance(t, backend.RowLocks)
	holder, other := newSession(t, in), newSession(t, in)
	const repeatable, committed = "REPEATABLE READ", "READ COMMITTED"
	type locks struct {
		rows    []int64 // of 10, 20 and 30, that nobody else gets
		inserts bool    // a new row between 10 and 20 has to wait
	}
	everything := locks{[]int64{10, 20, 30}, true}
	for _, c := range []struct {
		claim     string
		isolation string
		from      string
		want      map[string]locks // by the type that EXPLAIN names; where the servers differ, by more than one
	}{
		{"primary key: the row", repeatable, "shelf WHERE id = 20", map[string]locks{"const": {[]int64{20}, false}}},
		{"unique key: the row", repeatable, "shelf WHERE name = 'b'", map[string]locks{"const": {[]int64{20}, false}}},
		{"index: the rows found", repeatable, "shelf WHERE kind = 2", map[string]locks{"ref": {[]int64{20}, false}}},
		{"no index: everything", repeatable, "shelf WHERE note = 'b'", map[string]locks{"ALL": everything}},
		{"no index, and no table lock either", committed, "shelf WHERE note = 'b'", map[string]locks{"ALL": {[]int64{20}, false}}},

		{"nothing found by a key: that gap, no row", repeatable, "shelf WHERE id = 17", map[string]locks{"": {nil, true}}},
		{"nothing found by a key: another gap", repeatable, "shelf WHERE id = 27", map[string]locks{"": {nil, false}}},
		{"nothing found without an index: everything", repeatable, "shelf WHERE note = 'x'", map[string]locks{"ALL": everything}},
		{"nothing found: nothing", committed, "shelf WHERE note = 'x'", map[string]locks{"ALL": {nil, false}}},

		// With three rows, MariaDB finds a scan cheaper than the index here.
		{"small table: an index that is not worth while", repeatable, "shelf WHERE name <> 'b'",
			map[string]locks{"ALL": everything, "range": {[]int64{10, 30}, true}}},
		{"an index that is not used", repeatable, "shelf IGNORE INDEX (name) WHERE name = 'b'", map[string]locks{"ALL": everything}},
	} {
		t.Run(c.claim, func(t *testing.T) {
			holder.do("DROP TABLE IF EXISTS shelf")
			holder.do("CREATE TABLE shelf (id BIGINT PRIMARY KEY, name VARCHAR(30) NOT NULL, note VARCHAR(30) NOT NULL, " +
				"kind INT NOT NULL, UNIQUE KEY name (name), KEY kind (kind)) ENGINE=InnoDB")
			holder.do("INSERT INTO shelf VALUES (10, 'a', 'a', 1), (20, 'b', 'b', 2), (30, 'c', 'c', 3)")
			holder.do("ANALYZE TABLE shelf")
			query := "SELECT * FROM " + c.from + " FOR UPDATE"
			plan := explain(t, holder, query)
			holder.do("SET SESSION TRANSACTION ISOLATION LEVEL " + c.isolation)
			holder.do("BEGIN")
			holder.do(query)
			got := locks{rows: other.locked("shelf", 10, 20, 30)}
			other.do("BEGIN")
			got.inserts = other.waits("INSERT INTO shelf VALUES (15, 'z', 'z', 9)")
			other.do("ROLLBACK")
			holder.do("ROLLBACK")
			want, known := c.want[plan]
			if !known || !slices.Equal(got.rows, want.rows) || got.inserts != want.inserts {
				t.Errorf("EXPLAIN says %q, locked are %+v; want %+v", plan, got, c.want)
			}
		})
	}
}

// explain is the access type of a query's one table; empty if it needs none.
func explain(t *testing.T, s session, query string) string {
	t.Helper()
	rows, err := s.QueryContext(t.Context(), "EXPLAIN FORMAT=TRADITIONAL "+query)
	labtest.Must(t, err)
	defer rows.Close()
	columns, err := rows.Columns()
	labtest.Must(t, err)
	fields := make([]any, len(columns))
	for i := range fields {
		fields[i] = new(sql.NullString)
	}
	if !rows.Next() {
		t.Fatalf("EXPLAIN %s says nothing: %v", query, rows.Err())
	}
	labtest.Must(t, rows.Scan(fields...))
	return fields[slices.Index(columns, "type")].(*sql.NullString).String
}
