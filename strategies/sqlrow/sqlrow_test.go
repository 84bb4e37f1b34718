package sqlrow

import (
	"database/sql"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"

	"seckill/internal/backend"
	"seckill/internal/catalog"
	"seckill/internal/judge"
	"seckill/internal/lab/labtest"
	"seckill/internal/seckill"
	"seckill/internal/tap"
	"seckill/internal/tap/taptest"
	"seckill/strategies/saletest"
)

func TestMain(m *testing.M) { os.Exit(labtest.Main(m)) }

// waitsFor returns an instance whose statements wait for a row as long as wait.
func waitsFor(t *testing.T, wait time.Duration) *backend.Instance {
	t.Helper()
	c := labtest.Config(t, backend.RowLocks)
	c.RowLockWait = wait
	return labtest.Open(t, c)
}

// A session is one connection whose statements wait for a row only for a moment.
type session struct {
	*testing.T
	*sql.Conn
}

func newSession(t *testing.T, in *backend.Instance) session {
	t.Helper()
	db := labtest.Value(in.DB.DB()).Must(t)
	c := labtest.Value(db.Conn(t.Context())).Must(t)
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

// waits reports whether a statement has to wait for another session.
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

// locked returns the rows of a table that another session holds.
func (s session) locked(table string, ids ...int64) (held []int64) {
	s.Helper()
	for _, id := range ids {
		if s.waits(fmt.Sprintf("SELECT id FROM %s WHERE id = %d FOR UPDATE NOWAIT", table, id)) {
			held = append(held, id)
		}
	}
	return held
}

// "Row locks are only used when the query goes through an index, otherwise the table is locked; and if it finds
// nothing, the table is locked as well; row locks are not reliable when the table is small." What is true of that: what
// is read is locked, so the plan decides. A key that finds one row is the plan for tables of any size; what finds
// nothing locks the gap that it looked at; and no table is ever locked as a whole.
func TestWhatForUpdateLocks(t *testing.T) {
	in := labtest.Instance(t, backend.RowLocks)
	holder, other := newSession(t, in), newSession(t, in)
	const repeatable, committed = "REPEATABLE READ", "READ COMMITTED"
	type locks struct {
		rows    []int64 // which of the rows 10, 20 and 30 nobody else gets
		inserts bool    // true if a new row between 10 and 20 has to wait
	}
	everything := locks{[]int64{10, 20, 30}, true}
	for _, c := range []struct {
		claim     string
		isolation string
		from      string
		want      map[string]locks // the key is the access type in EXPLAIN; if the servers differ, there are several
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

		// With three rows, MariaDB estimates that a scan is cheaper than the index.
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

// explain returns the access type of a query's one table, or "" if the query needs no table.
func explain(t *testing.T, s session, query string) string {
	t.Helper()
	rows := labtest.Value(s.QueryContext(t.Context(), "EXPLAIN FORMAT=TRADITIONAL "+query)).Must(t)
	defer rows.Close()
	columns := labtest.Value(rows.Columns()).Must(t)
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

// A clock stands still, or moves on by a step each time it is read.
type clock struct {
	mu   sync.Mutex
	at   time.Time
	step time.Duration
}

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = c.at.Add(c.step)
	return c.at
}

// After a first purchase, A reads the row, B buys, and A goes on. A must notice B's purchase,
// which works only if B's timestamp differs from the first buyer's.
func TestTwoWritesAtTheSameTime(t *testing.T) {
	const tick = time.Microsecond
	noon := time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)
	for name, c := range map[string]struct {
		micro       bool
		first, then time.Duration // the clock's offset in the first buyer's process, and in the others'
		step        time.Duration // how far the others' clock moves on with each reading
		lost        bool
	}{
		"seconds, pinned clock":                      {false, 0, 0, 0, true},
		"seconds, ticking within the second":         {false, 0, 0, tick, true},
		"seconds, a second later":                    {false, 0, time.Second, 0, false},
		"microseconds, pinned clock":                 {true, 0, 0, 0, true},
		"microseconds, a tick later":                 {true, 0, 0, tick, false},
		"microseconds, a process that runs ahead":    {true, time.Minute, time.Minute - tick, tick, true},
		"microseconds, a process ahead by something": {true, time.Minute, 0, tick, false},
	} {
		t.Run(name, func(t *testing.T) {
			deps := func(offset, step time.Duration) catalog.Deps {
				return catalog.Deps{Now: (&clock{at: noon.Add(offset), step: step}).now,
					Settings: catalog.Settings{MicrosecondTS: c.micro, Retries: 3}}
			}
			s := saletest.Open(t, Timestamp, 10, deps(c.first, 0), deps(c.then, c.step))
			labtest.Value(s.Buy(t.Context(), 1, 1)).Must(t)
			attempts := 0
			a := taptest.EachBefore(t.Context(), func(command *tap.Command) {
				if command.Name == "BEGIN" {
					attempts++
				}
				if command.Name != "BEGIN" || attempts > 1 {
					return
				}
				labtest.Value(s.Processes[1].Deduct(t.Context(), s.Purchase(2, 2))).Check(t, nil, "B buys")
			})
			labtest.Value(s.Processes[1].Deduct(a, s.Purchase(3, 1))).Check(t, nil, "A buys")
			want, tries := judge.Held, 2
			if c.lost {
				want, tries = judge.Lost, 1
			}
			if got := s.Judge(t); got.Verdict != want || attempts != tries {
				t.Errorf("the audit says %s after %d attempts, want %s after %d: %+v",
					got.Verdict, attempts, want, tries, got.Violations)
			}
		})
	}
}

// What the lessons say about the servers, seen on the server.

// Under READ COMMITTED a scan keeps the lock of the row that matches. Another UPDATE skips that
// row. Another FOR UPDATE waits for it.
func TestSecondScanUnderReadCommitted(t *testing.T) {
	in := labtest.Instance(t, backend.RowLocks)
	holder, other := newSession(t, in), newSession(t, in)
	holder.do("DROP TABLE IF EXISTS scanned")
	holder.do("CREATE TABLE scanned (id BIGINT PRIMARY KEY, code BIGINT NOT NULL, num INT NOT NULL) ENGINE=InnoDB")
	holder.do("INSERT INTO scanned VALUES (1, 1, 5), (2, 2, 5)")
	for _, s := range []session{holder, other} {
		s.do("SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED")
		s.do("BEGIN")
	}
	holder.do("SELECT num FROM scanned WHERE code = 1 FOR UPDATE")
	if other.waits("UPDATE scanned SET num = num - 1 WHERE code = 2") {
		t.Error("an UPDATE of another row waits for the holder's")
	}
	if !other.waits("SELECT num FROM scanned WHERE code = 2 FOR UPDATE") {
		t.Error("a FOR UPDATE scan for another row does not wait for the holder's")
	}
	holder.do("ROLLBACK")
	other.do("ROLLBACK")
}

// This is the deadlock of lock-insert-plain. Two INSERTs wait for a shared lock behind the DELETE.
// After the DELETE both have it, and neither gets the exclusive lock.
func TestInsertsBehindADeleteDeadlock(t *testing.T) {
	in := labtest.Instance(t, backend.RowLocks)
	holder := newSession(t, in)
	holder.do("DROP TABLE IF EXISTS ring")
	holder.do("CREATE TABLE ring (name VARCHAR(30) PRIMARY KEY) ENGINE=InnoDB")
	holder.do("INSERT INTO ring VALUES ('lock')")
	waiting := func() int64 {
		var name string
		var n int64
		labtest.Must(t, holder.QueryRowContext(t.Context(), "SHOW GLOBAL STATUS LIKE 'Innodb_row_lock_current_waits'").Scan(&name, &n))
		return n
	}
	holder.do("BEGIN")
	holder.do("DELETE FROM ring WHERE name = 'lock'")
	before, ended := waiting(), make(chan error, 2)
	for range 2 {
		s := newSession(t, in)
		s.do("SET SESSION innodb_lock_wait_timeout = 20")
		go func() {
			_, err := s.ExecContext(t.Context(), "INSERT INTO ring VALUES ('lock')")
			ended <- err
		}()
	}
	labtest.Soon(t, "the two INSERTs wait for the DELETE", func() bool { return waiting() >= before+2 })
	holder.do("COMMIT")
	told := fmt.Sprint(code(<-ended), code(<-ended))
	if told != "0 1213" && told != "1213 0" {
		t.Errorf("the INSERTs end with %s, want one done and one deadlock, 1213", told)
	}
}

func code(err error) uint16 {
	var answer *mysql.MySQLError
	if errors.As(err, &answer) {
		return answer.Number
	}
	return 0
}

// for-update-autocommit looks right, because its SELECT does wait for a buyer who writes.
func TestAutocommitWaitsForAWriter(t *testing.T) {
	s := saletest.Open(t, ForUpdateAutocommit, 10, catalog.Deps{Instance: waitsFor(t, time.Second)})
	_, err := s.Buy(taptest.Before(t.Context(), "COMMIT", func() {
		seen := ""
		ctx := taptest.Before(t.Context(), "BEGIN", func() { seen = "it got past the SELECT" })
		if _, err := s.Buy(ctx, 2, 2); !errors.Is(err, seckill.ErrBusy) || seen != "" {
			t.Errorf("a buyer beside one who is about to commit: %v %s, want busy", err, seen)
		}
	}), 1, 1)
	if got := s.Judge(t); err != nil || got.Verdict != judge.Held {
		t.Errorf("got %v, and the audit says %s", err, got.Verdict)
	}
}
