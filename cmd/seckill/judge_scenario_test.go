package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"seckill/internal/backend"
	"seckill/internal/lab/labtest"
	"seckill/loadtest"
)

// Somebody else's books are read by the scenario's audit query, on the real
// server, and hold against what any load generator recorded.
func TestJudgeReadsTheBooksByAScenario(t *testing.T) {
	in := labtest.Instance(t, backend.SQL)
	db, err := in.DB.DB()
	if err != nil {
		t.Fatal(err)
	}
	for _, statement := range []string{"DROP TABLE IF EXISTS bakery",
		"CREATE TABLE bakery (loaf INT PRIMARY KEY, baked INT, shelf INT, sold INT)", "INSERT INTO bakery VALUES (7, 0, 0, 0)"} {
		if _, err := db.ExecContext(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() { _, _ = db.Exec("DROP TABLE bakery") })
	file := func(name, text string) string {
		path := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	scenario := file("bakery.yaml", bakeryScenario)
	const sales = `{"sku_id":7,"stock":3}
{"user_id":1,"request_id":"a","quantity":1,"outcome":"sold"}
{"user_id":2,"request_id":"b","quantity":1,"outcome":"sold"}
{"user_id":2,"request_id":"b","quantity":1,"outcome":"unknown"}
`
	const refused = `{"user_id":3,"request_id":"c","quantity":1,"outcome":"sold_out"}` + "\n"
	const silent = `{"user_id":3,"request_id":"c","quantity":1,"outcome":"unknown"}` + "\n"
	for _, test := range []struct {
		name               string
		told, scenario     string
		baked, shelf, sold int64
		status             int
		says               string
	}{
		{"as it should be", sales, scenario, 3, 1, 2, loadtest.ExitHeld, "HELD: 3 calls judged; 2 of 3 units sold, 1 left"},
		{"what is unknown was sold", sales + silent, scenario, 3, 0, 3, loadtest.ExitHeld, "HELD"},
		{"oversold", sales, scenario, 3, -1, 4, loadtest.ExitOversold, "oversold"},
		{"more than anybody was told", sales, scenario, 3, 0, 3, loadtest.ExitLost, "more_than_told"},
		{"a sale is not in the books", sales, scenario, 3, 2, 1, loadtest.ExitLost, "fewer_than_told"},
		{"told sold out, and one was left", sales + refused, scenario, 3, 1, 2, loadtest.ExitLost, "undersold"},
		{"another stock was set", sales, scenario, 4, 2, 2, loadtest.ExitNotValid, "initial_changed"},
		{"a cancellation of no sale", sales + `{"call":"cancel","user_id":2,"order_id":"x","outcome":"cancelled"}`, scenario, 3, 1, 2, 1,
			"record every sale with its order_id"},
		{"no such loaf", strings.Replace(sales, `"sku_id":7`, `"sku_id":8`, 1), scenario, 3, 1, 2, 1, "the query must answer"},
		{"a query that is none", sales, file("bad.yaml", strings.Replace(bakeryScenario, "FROM bakery", "FROM nowhere", 1)), 3, 1, 2, 1, "service.audit of"},
		{"no query", sales, file("none.yaml", "stock: 3\n"), 3, 1, 2, statusUsage, "leave --scenario out"},
		{"no such file", sales, "/nowhere.yaml", 3, 1, 2, statusUsage, "--scenario: "},
	} {
		if _, err := db.ExecContext(t.Context(), "UPDATE bakery SET baked = ?, shelf = ?, sold = ?", test.baked, test.shelf, test.sold); err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		status := run(t.Context(), func() {}, []string{"judge", "--told", file("told.jsonl", test.told), "--scenario", test.scenario,
			"--mysql-dsn", in.Config.MySQLDSN}, &out, &out)
		if status != test.status || !strings.Contains(out.String(), test.says) {
			t.Errorf("%s: exit status %d, want %d and %q:\n%s", test.name, status, test.status, test.says, &out)
		}
	}
}
