package backend_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"testing"

	"github.com/go-sql-driver/mysql"

	"seckill/internal/backend"
	"seckill/internal/lab/labtest"
)

// session is one connection to MySQL, and what its server has counted of it.
func session(t *testing.T) (conn *sql.Conn, counted func(name string) int) {
	t.Helper()
	db, err := labtest.Instance(t, backend.SQL, backend.RowLocks).DB.DB()
	if err != nil {
		t.Fatal(err)
	}
	if conn, err = db.Conn(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return conn, func(name string) (n int) {
		t.Helper()
		if err := conn.QueryRowContext(t.Context(), "SHOW SESSION STATUS LIKE '"+name+"'").Scan(new(string), &n); err != nil {
			t.Fatal(err)
		}
		return n
	}
}

// What comes again and again is prepared once and answers as its text does;
// what comes rarely, or has no arguments, goes as text.
func TestWhatComesAgainIsPrepared(t *testing.T) {
	conn, counted := session(t)
	do := func(q string, args ...any) {
		t.Helper()
		if _, err := conn.ExecContext(t.Context(), q, args...); err != nil {
			t.Fatal(err)
		}
	}
	do("CREATE TEMPORARY TABLE many (id BIGINT PRIMARY KEY, name VARCHAR(20) CHARACTER SET ascii COLLATE ascii_bin, at TIMESTAMP(6) NULL)")
	prepared, executed := counted("Com_stmt_prepare"), counted("Com_stmt_execute")
	const rows = 50
	for n := range rows {
		do("INSERT INTO many (id, name, at) VALUES (?, ?, NULLIF(?, ''))", n, fmt.Sprint("name ", n), "2026-11-22 10:00:00.5")
		do(fmt.Sprintf("UPDATE many SET id = id WHERE id = %d", n))
		do(fmt.Sprintf("UPDATE many SET id = id WHERE id = ? AND %d", n), n)
	}
	if p, e := counted("Com_stmt_prepare")-prepared, counted("Com_stmt_execute")-executed; p != 1 || e < rows-10 || e > rows {
		t.Errorf("%d statements prepared and %d executed, want one prepared and about %d executed", p, e, rows)
	}
	for n := range rows {
		var id, sum int64
		var name string
		var at sql.NullTime
		err := conn.QueryRowContext(t.Context(), "SELECT id, name, at, id + ? FROM many WHERE id = ? AND name = ?",
			1, n, fmt.Sprint("name ", n)).Scan(&id, &name, &at, &sum)
		if err != nil || id != int64(n) || name != fmt.Sprint("name ", n) || sum != int64(n+1) || at.Time.Nanosecond() != 5e8 {
			t.Fatalf("time %d: %d, %q, %v, %d: %v", n+1, id, name, at, sum, err)
		}
	}
}

// A statement that the server refuses to prepare is told what its text is told,
// each time.
func TestARefusedStatementIsToldWhy(t *testing.T) {
	conn, _ := session(t)
	for n := range 20 {
		_, err := conn.ExecContext(t.Context(), "UPDATE no_such_table SET num = ?", n)
		if known := (*mysql.MySQLError)(nil); !errors.As(err, &known) || known.Number != 1146 {
			t.Fatalf("time %d: %v, want error 1146", n+1, err)
		}
	}
}

// What cannot be prepared goes as text, every time.
func TestShowTakesArguments(t *testing.T) {
	conn, _ := session(t)
	for n := range 20 {
		var name, value string
		if err := conn.QueryRowContext(t.Context(), "SHOW VARIABLES LIKE ?", "autocommit").Scan(&name, &value); err != nil || name != "autocommit" {
			t.Fatalf("time %d: %q, %v", n+1, name, err)
		}
	}
}

// However many statements come again, a connection keeps a bounded number.
func TestPreparedStatementsAreBounded(t *testing.T) {
	conn, counted := session(t)
	before := counted("Com_stmt_prepare")
	for range 10 {
		for n := range 300 {
			var got int
			if err := conn.QueryRowContext(t.Context(), fmt.Sprintf("SELECT ? + %d", n), 1).Scan(&got); err != nil || got != n+1 {
				t.Fatalf("%d: %v, want %d", got, err, n+1)
			}
		}
	}
	if n := counted("Com_stmt_prepare") - before; n < 100 || n > 128 {
		t.Errorf("%d statements were prepared, want at most 128", n)
	}
}

// A buyer who has left sends nothing more, prepared or not.
func TestACancelledContextPreparesNothing(t *testing.T) {
	conn, counted := session(t)
	ctx, cancel := context.WithCancel(t.Context())
	for range 4 {
		if _, err := conn.ExecContext(ctx, "DO ?", 1); err != nil {
			t.Fatal(err)
		}
	}
	before := counted("Com_stmt_prepare")
	cancel()
	if _, err := conn.ExecContext(ctx, "DO ?", 1); !errors.Is(err, context.Canceled) {
		t.Fatalf("%v, want %v", err, context.Canceled)
	}
	if n := counted("Com_stmt_prepare") - before; n != 0 {
		t.Errorf("%d statements were prepared", n)
	}
}
