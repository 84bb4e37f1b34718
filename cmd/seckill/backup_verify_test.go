//go:build verify && unix

package main

import (
	"bytes"
	"database/sql"
	"net"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"

	"seckill/internal/backend"
	"seckill/internal/ledger"
	"seckill/internal/packages"
	"seckill/loadtest"
)

// The database of a running sale is dumped and restored on another server. There
// the books balance, seckill reconcile finds nothing, every order is one of the sale,
// and the sale goes on with what was left at that moment.
func TestBackupOfARunningSale(t *testing.T) {
	dump := packages.NewSearch(os.Getenv).Find(packages.Dump)
	if !dump.Found() {
		t.Fatal(dump.Missing())
	}
	const stock, buyers = 3000, 3000
	from := labOf(t, 2, backend.NameMySQL)
	var urls []string
	for _, s := range from.Services() {
		urls = append(urls, s.URL)
	}
	var backup []byte
	sale := loadtest.Scenario{Strategy: "conditional", SKU: 1, Stock: stock, Buyers: buyers, Quantity: 1, Concurrency: 8, Timeout: time.Minute, Seed: 1}
	r, err := loadtest.Run(t.Context(), loadtest.Config{Scenario: sale, Targets: urls, AdminToken: from.Token(), Ledger: booksOf(t, from), Rest: true,
		OnProgress: midway(buyers, func() { backup = dumped(t, dump.Path, from.Config().MySQLDSN) })})
	if err != nil || r.Verdict != ledger.Held {
		t.Fatalf("the sale: %v, %+v", err, r)
	}

	to := labOf(t, 0, backend.NameMySQL)
	there := booksOf(t, to)
	restore(t, backup, to.Config().MySQLDSN)
	b, err := there.Balance(t.Context(), 1)
	if err != nil || b.Num != b.Left() || b.Held < buyers/3 || b.Held >= stock {
		t.Fatalf("restored: %+v, %v; want a balance of a sale that is under way", b, err)
	}
	whole, err := booksOf(t, from).Snapshot(t.Context(), 1)
	if err != nil {
		t.Fatal(err)
	}
	sold := map[string]bool{}
	for _, o := range whole.Orders {
		sold[o.PublicID] = true
	}
	part, err := there.Snapshot(t.Context(), 1)
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range part.Orders {
		if !sold[o.PublicID] {
			t.Errorf("order %s is not one of the sale", o.PublicID)
		}
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	reconcile := exec.Command(self, "reconcile")
	reconcile.Env = append(os.Environ(), "SECKILL_MYSQL_DSN="+to.Config().MySQLDSN)
	if said, err := reconcile.CombinedOutput(); err != nil {
		t.Errorf("seckill reconcile: %v\n%s", err, said)
	}

	if err := to.StartServices(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	sale.Seed, sale.Buyers = loadtest.SeedAfter(1, buyers), stock
	r, err = loadtest.Run(t.Context(), loadtest.Config{Scenario: sale, Targets: []string{to.Services()[0].URL}, AdminToken: to.Token(), Ledger: there, Joins: true})
	if err != nil || r.Verdict != ledger.Held || r.Counts[ledger.OutcomeSold] != int(b.Num) {
		t.Errorf("the sale goes on with %d units: %v, %+v", b.Num, err, r)
	}
	t.Logf("%d orders in the backup, %d in the end; %d sold after the restore", b.Held, len(whole.Orders), b.Num)
}

// dumped is one consistent reading of a database, beside its writers.
func dumped(t *testing.T, program, dsn string) []byte {
	c, err := mysql.ParseDSN(dsn)
	if err != nil {
		t.Error(err)
		return nil
	}
	host, port, err := net.SplitHostPort(c.Addr)
	if err != nil {
		t.Error(err)
		return nil
	}
	command := exec.Command(program, "--no-defaults", "--single-transaction", "--no-tablespaces", "--host", host, "--port", port,
		"--protocol", "tcp", "--user", c.User, c.DBName)
	command.Env = append(os.Environ(), "MYSQL_PWD="+c.Passwd)
	var said bytes.Buffer
	command.Stderr = &said
	out, err := command.Output()
	if err != nil {
		t.Errorf("%s: %v\n%s", program, err, &said)
	}
	return out
}

func restore(t *testing.T, backup []byte, dsn string) {
	t.Helper()
	c, err := mysql.ParseDSN(dsn)
	if err != nil {
		t.Fatal(err)
	}
	c.MultiStatements = true
	db, err := sql.Open("mysql", c.FormatDSN())
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.ExecContext(t.Context(), string(backup)); err != nil || len(backup) == 0 {
		t.Fatalf("restore %d bytes: %v", len(backup), err)
	}
}
