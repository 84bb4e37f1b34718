package observe_test

import (
	"testing"

	"seckill/internal/observe"
	"seckill/internal/tap"
)

// Two runs of the same commands read alike, whatever they drew.
func TestTwoRunsReadAlike(t *testing.T) {
	texts := func(sku, token, day string) []string {
		n := observe.NewNames(7000000001, 70000000010)
		return []string{
			n.Plain("set seckill:lock:stock:" + sku + " " + token + " nx"),
			n.Plain("get seckill:lock:stock:70000000010"),
			n.Plain("UPDATE stock SET updated_at = '" + day + "' WHERE id = " + sku),
			n.Plain("UPDATE stock SET updated_at = '" + day + "'"),
			n.Plain("del " + token),
		}
	}
	a := texts("7000000001", "MFRGGZDFMZTWQ2LKNNWG23TPOA", "2026-11-21 10:11:12.123456")
	b := texts("7000000001", "NFXGC3DMMVSGE2LOMRSWCZLTOQ", "2025-01-02 03:04:05")
	want := []string{"set seckill:lock:stock:1 t1 nx", "get seckill:lock:stock:2",
		"UPDATE stock SET updated_at = 'time1' WHERE id = 1", "UPDATE stock SET updated_at = 'time1'", "del t1"}
	for i := range want {
		if a[i] != want[i] || b[i] != want[i] {
			t.Errorf("%q and %q, want %q", a[i], b[i], want[i])
		}
	}
}

func TestDescribe(t *testing.T) {
	for want, c := range map[string]*tap.Command{
		"SELECT 'a', 2":       {Backend: tap.SQL, Text: "SELECT ?, ?", Args: []any{"a", int64(2)}},
		"node 2: set k v":     {Backend: tap.Redis, Text: "set k v", Node: "node 2"},
		"wait: mutex stock 1": {Backend: tap.Waiting, Name: "wait", Text: "mutex stock 1"},
	} {
		if got := observe.Describe(c); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
