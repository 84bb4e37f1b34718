package ledger_test

import (
	"strings"
	"testing"

	"seckill/internal/backend"
	"seckill/internal/lab/labtest"
	"seckill/internal/ledger"
	"seckill/internal/seckill"
)

// Every process that uses a database knows it by one name; another database
// has another.
func TestIdentity(t *testing.T) {
	names := map[string]bool{}
	for _, c := range []backend.Config{
		labtest.Config(t, backend.SQL),
		{SQLitePath: t.TempDir() + "/ledger.db"},
	} {
		var first string
		for process := range 2 {
			in, err := backend.Open(t.Context(), c)
			if err != nil {
				t.Fatal(err)
			}
			defer in.Close()
			if err := ledger.Migrate(t.Context(), in.DB); err != nil {
				t.Fatal(err)
			}
			store := ledger.NewStore(in.DB)
			id, err := store.For("any", seckill.NopObserver{}).Identity(t.Context())
			if err != nil || id == "" || strings.Contains(id, " ") {
				t.Errorf("process %d calls it %q (%v)", process, id, err)
			}
			if process == 0 {
				first = id
			}
			if id != first {
				t.Errorf("process %d calls it %q, the first %q", process, id, first)
			}
			in.Close()
			if again, err := store.Identity(t.Context()); again != id || err != nil {
				t.Errorf("asked again, without a database: %q (%v); want what is known", again, err)
			}
		}
		names[first] = true
	}
	if len(names) != 2 {
		t.Errorf("two databases are called %v", names)
	}
}
