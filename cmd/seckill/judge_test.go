package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gorm.io/gorm"

	"seckill/internal/backend"
	"seckill/internal/ledger"
	"seckill/internal/seckill"
	"seckill/loadtest"
)

// A file of what buyers were told is judged against a ledger; what is wrong with
// either decides the exit status.
func TestJudgeCommand(t *testing.T) {
	file := filepath.Join(t.TempDir(), "ledger.db")
	in, err := backend.Open(t.Context(), backend.Config{SQLitePath: file})
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	if err := ledger.Migrate(t.Context(), in.DB); err != nil {
		t.Fatal(err)
	}
	store := ledger.NewStore(in.DB).For("conditional", seckill.NopObserver{})
	set, err := store.Reset(t.Context(), 1, "judged", 10)
	if err != nil {
		t.Fatal(err)
	}
	var told strings.Builder
	fmt.Fprintf(&told, `{"sku_id":1,"stock":10,"run":%d,"strategy":"conditional"}`+"\n", set.Run)
	for user := range int64(3) {
		var r seckill.Receipt
		if err := store.Tx(t.Context(), func(tx *gorm.DB) (err error) {
			if err := tx.Exec("UPDATE stock SET num = num - 1 WHERE id = 1").Error; err != nil {
				return err
			}
			r, err = store.Record(tx, seckill.Purchase{SKU: 1, User: user + 1, Quantity: 1, RequestID: fmt.Sprint("r", user)}, set.Run, 9-user)
			return err
		}); err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&told, `{"request_id":"r%d","user_id":%d,"quantity":1,"outcome":"sold","order_id":%q,"remaining":%d,"sent_at":"2026-11-11T00:00:0%dZ","answered_at":"2026-11-11T00:00:0%d.5Z"}`+"\n",
			user, user+1, r.OrderID, r.Remaining, user, user)
	}
	busy := func(second int) string {
		return fmt.Sprintf(`{"request_id":"b%d","user_id":%d,"quantity":1,"outcome":"busy","sent_at":"2026-11-11T00:00:%dZ","answered_at":"2026-11-11T00:00:%d.5Z"}`+"\n", second, second, second, second)
	}
	blocked := ""
	for second := 10; second < 30; second++ {
		blocked += busy(second)
	}
	clean := told.String()
	for _, test := range []struct {
		name, told string
		status     int
		want       string
	}{
		{"as it should be", clean, loadtest.ExitHeld, "HELD: 3 calls judged; 3 of 10 units sold"},
		{"a copy is refused", clean + `{"request_id":"r0","user_id":1,"quantity":1,"outcome":"sold_out","sent_at":"2026-11-11T00:00:05Z","answered_at":"2026-11-11T00:00:06Z"}`,
			loadtest.ExitLost, "key_refused"},
		{"a sale without an order", clean + `{"request_id":"r9","user_id":9,"quantity":1,"outcome":"sold","order_id":"nine","remaining":1}`, loadtest.ExitLost, "missing_order"},
		{"another stock was set", strings.Replace(clean, `"stock":10`, `"stock":2`, 1), loadtest.ExitNotValid, "initial_changed"},
		{"it stands still", clean + blocked, loadtest.ExitBlocked, "BLOCKED: no sale for 19.5 s"},
		{"a line that is none", clean + "sold!", statusUsage, "line 5: "},
	} {
		path := filepath.Join(t.TempDir(), "told.jsonl")
		if err := os.WriteFile(path, []byte(test.told), 0o600); err != nil {
			t.Fatal(err)
		}
		var stdout, stderr bytes.Buffer
		status := run(t.Context(), func() {}, []string{"judge", "--told", path, "--sqlite-path", file}, &stdout, &stderr)
		if said := stdout.String() + stderr.String(); status != test.status || !strings.Contains(said, test.want) {
			t.Errorf("%s: exit status %d, want %d and %q:\n%s", test.name, status, test.status, test.want, said)
		}
		if test.status == statusUsage {
			continue
		}
		stdout.Reset()
		run(t.Context(), func() {}, []string{"judge", "--told", path, "--sqlite-path", file, "--json"}, &stdout, &stderr)
		var r ledger.Report
		if err := json.Unmarshal(stdout.Bytes(), &r); err != nil || judgedStatus(r) != test.status || r.Served == nil {
			t.Errorf("%s as JSON: %+v, %v", test.name, r, err)
		}
	}
	for _, args := range [][]string{{"judge"}, {"judge", "--told", "x"}, {"judge", "--told", "/nowhere", "--sqlite-path", file},
		{"judge", "--told", "x", "--sqlite-path", file, "--patience", "0s"}} {
		var out bytes.Buffer
		if status := run(t.Context(), func() {}, args, &out, &out); status != statusUsage {
			t.Errorf("%v: exit status %d, %s", args, status, &out)
		}
	}
}
