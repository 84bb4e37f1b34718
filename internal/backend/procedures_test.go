package backend_test

import (
	"context"
	"database/sql"
	"strings"
	"testing"

	"github.com/go-sql-driver/mysql"

	"seckill/internal/backend"
	"seckill/internal/lab"
	"seckill/internal/lab/labtest"
)

const procedure = "CREATE PROCEDURE seckill_test(p BIGINT)\nBEGIN\n  -- what it does\n  SELECT p;\nEND\n"

// If the account may not create procedures, the error of EnsureProcedure names the missing right. If the account has
// the right, EnsureProcedure replaces a procedure of another build or SQL mode, and keeps an equal procedure.
func TestEnsureProcedure(t *testing.T) {
	l, err := lab.Start(t.Context(), lab.Options{Host: labtest.Host(), Backends: []string{backend.NameMySQL}})
	labtest.Must(t, err)
	defer l.Stop(context.Background())
	admin := labtest.Admin(t, l)
	do := func(statement string) {
		t.Helper()
		labtest.Value(admin.Exec(statement)).Must(t)
	}
	do("CREATE DATABASE shop")
	do("CREATE USER 'poor'@'127.0.0.1'")
	do("GRANT SELECT, INSERT, UPDATE ON shop.* TO 'poor'@'127.0.0.1'")
	address := labtest.Value(mysql.ParseDSN(l.Config().MySQLDSN)).Must(t)
	address.User, address.Passwd, address.DBName = "poor", "", "shop"
	ensure := func(text string) error {
		t.Helper()
		in := labtest.Open(t, backend.Config{MySQLDSN: address.FormatDSN()})
		return in.EnsureProcedure(t.Context(), "seckill_test", text)
	}
	labtest.Fails(t, ensure(procedure), "GRANT CREATE ROUTINE, EXECUTE", "without the right")
	do("GRANT CREATE ROUTINE, EXECUTE ON shop.* TO 'poor'@'127.0.0.1'")
	labtest.Check(t, ensure(procedure), nil, "with the right")
	poor := labtest.Value(sql.Open("mysql", address.FormatDSN())).Must(t)
	defer poor.Close()
	poor.SetMaxOpenConns(1)
	for what, made := range map[string][]string{
		"another build's procedure": {"CREATE PROCEDURE seckill_test(p BIGINT) SELECT p + 1"},
		"one of another SQL mode":   {"SET sql_mode = 'ANSI'", procedure},
	} {
		for _, statement := range append([]string{"DROP PROCEDURE seckill_test"}, made...) {
			labtest.Value(poor.Exec(statement)).Must(t)
		}
		for _, comment := range []string{"", "it was kept"} {
			labtest.Check(t, ensure(procedure), nil, "with %s in the database", what)
			var body, mode, said string
			labtest.Must(t, poor.QueryRow("SELECT routine_definition, sql_mode, routine_comment FROM "+
				"information_schema.routines WHERE routine_schema = 'shop'").Scan(&body, &mode, &said))
			if !strings.Contains(body, "-- what it does") || strings.Contains(mode, "ANSI") || said != comment {
				t.Errorf("%s was replaced by %q in the mode %s with the comment %q; want this build's, created once",
					what, body, mode, said)
			}
			do("ALTER PROCEDURE shop.seckill_test COMMENT 'it was kept'")
		}
	}
	if err := ensure("CREATE PROCEDURE seckill_test() SELECT 1 FROM"); err == nil ||
		strings.Contains(err.Error(), "GRANT") {
		t.Errorf("a procedure with a syntax error: %v", err)
	}
	labtest.Must(t, ensure(procedure))
	do("REVOKE CREATE ROUTINE ON shop.* FROM 'poor'@'127.0.0.1'")
	labtest.Check(t, ensure(procedure), nil, "without the right, but with the procedure")
}
