package ledger_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"testing"

	"golang.org/x/sync/errgroup"
	"gorm.io/gorm"

	"seckill/internal/backend"
	"seckill/internal/lab/labtest"
	"seckill/internal/ledger"
	"seckill/internal/seckill"
	"seckill/internal/tap"
)

func TestMain(m *testing.M) { os.Exit(labtest.Main(m)) }

// onServer is a ledger on MySQL or MariaDB.
func onServer(t *testing.T) (*ledger.Store, *backend.Instance) {
	t.Helper()
	in := labtest.Instance(t, backend.SQL, backend.RowLocks)
	return migrated(t, in), in
}

func migrated(t *testing.T, in *backend.Instance) *ledger.Store {
	t.Helper()
	for range 2 { // the tables may be there already
		labtest.Must(t, ledger.Migrate(t.Context(), in.DB))
	}
	return ledger.NewStore(in.DB).For("test")
}

// Both kinds of database the ledger runs on.
func onEachDatabase(t *testing.T, f func(t *testing.T, s *ledger.Store)) {
	t.Run("server", func(t *testing.T) {
		s, _ := onServer(t)
		f(t, s)
	})
	t.Run("sqlite", func(t *testing.T) {
		in, err := backend.Open(t.Context(), backend.Config{SQLitePath: t.TempDir() + "/ledger.db"})
		labtest.Must(t, err)
		defer in.Close()
		f(t, migrated(t, in))
	})
}

const sku = 7001

func sell(ctx context.Context, s *ledger.Store, p seckill.Purchase, run int64) (r seckill.Receipt, err error) {
	err = s.Tx(ctx, func(tx *gorm.DB) error {
		rows, left, err := s.Exec(tx, "UPDATE stock SET num = LAST_INSERT_ID(num - ?) WHERE id = ?", p.Quantity, p.SKU)
		if err != nil {
			return err
		}
		if rows == 0 {
			return seckill.ErrUnknownSKU
		}
		r, err = s.Record(tx, p, run, left)
		return err
	})
	return r, err
}

func TestResetsAtOnceOfANewSKU(t *testing.T) {
	onEachDatabase(t, func(t *testing.T, s *ledger.Store) {
		s.DB(t.Context()).Exec("DELETE FROM stock WHERE id = ?", sku+1)
		var g errgroup.Group
		for i := range 8 {
			g.Go(func() error {
				_, err := s.Reset(t.Context(), sku+1, fmt.Sprint(i), 5)
				return err
			})
		}
		if err := g.Wait(); err != nil {
			t.Error(err)
		}
	})
}

func TestUnknownCommitIsUnknown(t *testing.T) {
	onEachDatabase(t, func(t *testing.T, s *ledger.Store) {
		st, _ := s.Reset(t.Context(), sku, "", 5)
		p := seckill.Purchase{SKU: sku, User: 1, Quantity: 1, RequestID: "a"}
		_, err := sell(tap.With(t.Context(), loses("COMMIT")), s, p, st.Run)
		if !errors.Is(err, seckill.ErrUnknown) || seckill.NothingTaken(err) {
			t.Errorf("a COMMIT without an answer: %v, want %v", err, seckill.ErrUnknown)
		}
		if _, err := s.Requested(t.Context(), sku, 1, "a"); err != nil {
			t.Errorf("the order was committed and cannot be found: %v", err)
		}
		p = seckill.Purchase{SKU: sku, User: 2, Quantity: 1, RequestID: "b"}
		if _, err = sell(tap.With(t.Context(), loses("INSERT")), s, p, st.Run); !seckill.NothingTaken(err) {
			t.Errorf("an INSERT without an answer is rolled back: %v, want one that proves it", err)
		}
	})
}

// loses is a Tap that loses the replies of one kind of command.
type loses string

func (loses) Before(context.Context, *tap.Command) error { return nil }

func (l loses) After(_ context.Context, c *tap.Command, err error) error {
	if c.Name == string(l) {
		return errors.New("connection lost")
	}
	return err
}
