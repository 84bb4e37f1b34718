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

var probed = backend.AddProcedure("seckill_test_v1", "CREATE PROCEDURE seckill_test_v1(p BIGINT) SELECT p")

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
	do("REVOKE CREATE ROUTINE ON shop.* FROM 'poor'@'127.0.0.1'")
	if ok, why := has(); !ok {
		t.Errorf("%s is there, and may be called: %q", probed, why)
	}
}
