package main

import (
	"context"
	"database/sql"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
	"gorm.io/gorm"

	"seckill/internal/backend"
	"seckill/internal/ledger"
	"seckill/internal/seckill"
)

// A bakery is a foreign service: its own paths, words and table, over TLS with
// a certificate of its own.
type bakery struct {
	db       *sql.DB
	careless bool // looks at the shelf, and writes what it computes from that
}

// bakery VARIABLE [careless] opens one on the table bakery, sets the variable
// to its URL, and writes its certificate into bakery.pem.
func openBakery(ts *testscript.TestScript, _ bool, args []string) {
	db, err := sql.Open("mysql", ts.Getenv("SECKILL_MYSQL_DSN"))
	ts.Check(err)
	server := httptest.NewUnstartedServer(&bakery{db, len(args) > 1})
	server.Config.ErrorLog = log.New(io.Discard, "", 0) // the other side says what is wrong
	server.StartTLS()
	ts.Defer(func() {
		server.Close()
		db.Close()
	})
	ts.Setenv(args[0], server.URL)
	certificate := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	ts.Check(os.WriteFile(ts.MkAbs("bakery.pem"), certificate, 0o600))
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

// sell makes the ledger ledger.db, with three of ten units sold, and told.jsonl,
// which says what its buyers were told.
func sell(ts *testscript.TestScript, _ bool, _ []string) {
	ctx := context.Background()
	in, err := backend.Open(ctx, backend.Config{SQLitePath: ts.MkAbs("ledger.db")})
	ts.Check(err)
	defer in.Close()
	ts.Check(ledger.Migrate(ctx, in.DB))
	store := ledger.NewStore(in.DB).For("conditional", seckill.NopObserver{})
	set, err := store.Reset(ctx, 1, "judged", 10)
	ts.Check(err)
	var told strings.Builder
	fmt.Fprintf(&told, `{"sku_id":1,"stock":10,"run":%d,"strategy":"conditional"}`+"\n", set.Run)
	for user := range int64(3) {
		ts.Check(store.Tx(ctx, func(tx *gorm.DB) error {
			if err := tx.Exec("UPDATE stock SET num = num - 1 WHERE id = 1").Error; err != nil {
				return err
			}
			r, err := store.Record(tx, seckill.Purchase{SKU: 1, User: user + 1, Quantity: 1, RequestID: fmt.Sprint("r", user)}, set.Run, 9-user)
			fmt.Fprintf(&told, `{"request_id":"r%d","user_id":%d,"quantity":1,"outcome":"sold","order_id":%q,"remaining":%d,`+
				`"sent_at":"2026-11-11T00:00:0%dZ","answered_at":"2026-11-11T00:00:0%d.5Z"}`+"\n", user, user+1, r.OrderID, r.Remaining, user, user)
			return err
		}))
	}
	ts.Check(os.WriteFile(ts.MkAbs("told.jsonl"), []byte(told.String()), 0o600))
}
