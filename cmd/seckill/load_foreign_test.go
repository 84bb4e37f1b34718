package main

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"seckill/internal/backend"
	"seckill/internal/lab/labtest"
	"seckill/loadtest"
)

// A bakery is somebody else's service: its own paths, words and table, over
// TLS with a certificate of its own.
type bakery struct {
	db       *sql.DB
	careless bool // looks at the shelf, and writes what it computes from that
}

func (b *bakery) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var order struct{ Loaf, Guest, Pieces int64 }
	switch {
	case r.Method == http.MethodPost && r.URL.Path == "/refill":
		if err := b.refill(r.Context(), r.FormValue("loaves")); err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
		}
	case json.NewDecoder(r.Body).Decode(&order) != nil || r.URL.Path != "/bread":
		http.Error(w, "what?", http.StatusBadRequest)
	default:
		left, sold, err := b.bake(r.Context(), order.Loaf, order.Pieces)
		switch {
		case err != nil:
			http.Error(w, err.Error(), http.StatusInternalServerError)
		case sold:
			fmt.Fprintf(w, `{"ok": true, "left": %d}`, left)
		default:
			fmt.Fprint(w, `{"ok": false, "why": "no bread"}`)
		}
	}
}

func (b *bakery) refill(ctx context.Context, loaves string) error {
	_, err := b.db.ExecContext(ctx, "UPDATE bakery SET baked = ?, shelf = ?, sold = 0 WHERE loaf = 7", loaves, loaves)
	return err
}

func (b *bakery) bake(ctx context.Context, loaf, pieces int64) (left int64, sold bool, err error) {
	if b.careless {
		if err := b.db.QueryRowContext(ctx, "SELECT shelf FROM bakery WHERE loaf = ?", loaf).Scan(&left); err != nil || left < pieces {
			return left, false, err
		}
		_, err = b.db.ExecContext(ctx, "UPDATE bakery SET shelf = ?, sold = sold + ? WHERE loaf = ?", left-pieces, pieces, loaf)
		return left - pieces, err == nil, err
	}
	result, err := b.db.ExecContext(ctx,
		"UPDATE bakery SET shelf = LAST_INSERT_ID(shelf - ?), sold = sold + ? WHERE loaf = ? AND shelf >= ?", pieces, pieces, loaf, pieces)
	if err != nil {
		return 0, false, err
	}
	if rows, err := result.RowsAffected(); err != nil || rows == 0 {
		return 0, false, err
	}
	left, err = result.LastInsertId()
	return left, true, err
}

const bakeryScenario = `
sku: 7
stock: 20
buyers: 400
concurrency: 32
service:
  request:
    path: /bread
    headers: {Content-Type: application/json}
    body: '{"loaf": {{.SKU}}, "guest": {{.User}}, "pieces": {{.Quantity}}}'
  answers:
    - {status: 200, json: {ok: true}, means: sold}
    - {status: 200, json: {ok: false}, means: sold_out}
  remaining: left
  reset:
    path: /refill
    headers: {Content-Type: application/x-www-form-urlencoded}
    body: loaves={{.Stock}}
  audit: SELECT baked, shelf, sold FROM bakery WHERE loaf = {{.SKU}}
`

// Somebody else's service is stormed over TLS and judged from its own table on
// the real server.
func TestForeignServiceOverTLS(t *testing.T) {
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
	shop := &bakery{db: db}
	server := httptest.NewTLSServer(shop)
	defer server.Close()
	file := func(name, text string) string {
		path := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	certificate := file("bakery.pem", string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})))
	scenario := file("bakery.yaml", bakeryScenario)
	for _, test := range []struct {
		name     string
		careless bool
		args     []string
		status   int
		says     string
	}{
		{"careful", false, []string{"--ca", certificate}, loadtest.ExitHeld, "served: 20 of 20 units"},
		{"careless", true, []string{"--ca", certificate}, loadtest.ExitOversold, "too many"},
		{"unknown authority", false, nil, loadtest.ExitNotValid, "certificate"},
		{"no authority in the file", false, []string{"--ca", scenario}, statusUsage, "there is no certificate in"},
	} {
		shop.careless = test.careless
		var out bytes.Buffer
		status := run(t.Context(), func() {}, append([]string{"load", "--target", server.URL, "--scenario", scenario,
			"--mysql-dsn", in.Config.MySQLDSN}, test.args...), &out, &out)
		if status != test.status || !strings.Contains(out.String(), test.says) {
			t.Errorf("%s: exit status %d, want %d and %q\n%s", test.name, status, test.status, test.says, &out)
		}
	}
}
