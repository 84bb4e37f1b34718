package sqlrow

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"

	"seckill/internal/backend"
	"seckill/internal/catalog"
	"seckill/internal/judge"
	"seckill/internal/lab/labtest"
	"seckill/internal/seckill"
	"seckill/internal/tap/taptest"
	"seckill/strategies/saletest"
)

// What the lessons say about the servers, seen on the server.

// Under READ COMMITTED a holder's scan keeps the row that matches. Another
// UPDATE passes over it; another FOR UPDATE has to wait for it.
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

// lock-insert-plain's deadlock: two INSERTs wait for a shared lock behind the
// DELETE. After it both have it, and neither gets the exclusive one.
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

// What makes for-update-autocommit look right: the SELECT does wait for somebody who writes.
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
