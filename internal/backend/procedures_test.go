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

var probed = backend.AddProcedure("seckill_test", "CREATE PROCEDURE seckill_test(p BIGINT)\nBEGIN\n  -- what it does\n  SELECT p;\nEND\n")

// An account that may not create procedures is told what to grant, and has them
// once that is granted; every other backend works meanwhile.
func TestAnAccountWithoutProcedures(t *testing.T) {
	l, err := lab.Start(t.Context(), lab.Options{Host: labtest.Host(), Folder: labtest.Folder(t), Backends: []string{backend.NameMySQL}})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Stop(context.Background())
	dsn, ok := l.AdminDSN()
	if !ok {
		t.Skip("the private server is no MariaDB, and has no administrator")
	}
	admin, err := sql.Open("mysql", dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer admin.Close()
	do := func(statement string) {
		t.Helper()
		if _, err := admin.Exec(statement); err != nil {
			t.Fatal(err)
		}
	}
	do("CREATE DATABASE shop")
	do("CREATE USER 'poor'@'127.0.0.1'")
	do("GRANT SELECT, INSERT, UPDATE, CREATE ON shop.* TO 'poor'@'127.0.0.1'")
	address, err := mysql.ParseDSN(l.Config().MySQLDSN)
	if err != nil {
		t.Fatal(err)
	}
	address.User, address.Passwd, address.DBName = "poor", "", "shop"
	has := func() (ok bool, why string) {
		t.Helper()
		in, err := backend.Open(t.Context(), backend.Config{MySQLDSN: address.FormatDSN()})
		if err != nil {
			t.Fatal(err)
		}
		defer in.Close()
		ok, why = in.Has(backend.Procedures)
		if said := in.Public(why); !ok && (said == why || strings.Contains(said, "poor") || strings.Contains(said, "shop")) {
			t.Errorf("anybody is told %q", said)
		}
		if status := in.Status(t.Context())[0]; status.Lacks != why && !ok || !status.OK {
			t.Errorf("the status is %+v, the reason %q", status, why)
		}
		return ok, why
	}
	if ok, why := has(); ok || !strings.Contains(why, "GRANT CREATE ROUTINE, EXECUTE ON `shop`.* TO 'poor'@'127.0.0.1'") {
		t.Errorf("without the right: %t, %q", ok, why)
	}
	do("GRANT CREATE ROUTINE, EXECUTE ON shop.* TO 'poor'@'127.0.0.1'")
	for range 2 { // it is made, and then found
		if ok, why := has(); !ok {
			t.Errorf("with the right: %q", why)
		}
	}
	poor, err := sql.Open("mysql", address.FormatDSN())
	if err != nil {
		t.Fatal(err)
	}
	defer poor.Close()
	for _, statement := range []string{"DROP PROCEDURE seckill_test", "CREATE PROCEDURE seckill_test(p BIGINT) SELECT p + 1"} {
		if _, err := poor.Exec(statement); err != nil {
			t.Fatal(err)
		}
	}
	for _, comment := range []string{"", "it was kept"} {
		if ok, why := has(); !ok {
			t.Errorf("where another build's was: %q", why)
		}
		var body, said string
		if err := poor.QueryRow("SELECT routine_definition, routine_comment FROM information_schema.routines "+
			"WHERE routine_schema = 'shop'").Scan(&body, &said); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(body, "-- what it does") || said != comment {
			t.Errorf("the procedure is %q, with the comment %q; want this build's, made once", body, said)
		}
		do("ALTER PROCEDURE shop.seckill_test COMMENT 'it was kept'")
	}
	do("REVOKE CREATE ROUTINE ON shop.* FROM 'poor'@'127.0.0.1'")
	if ok, why := has(); !ok {
		t.Errorf("%s is there, and may be called: %q", probed, why)
	}
}
