package ledger_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"regexp"
	"strconv"
	"testing"

	"golang.org/x/sync/errgroup"
	"gorm.io/gorm"

	"seckill/internal/backend"
	"seckill/internal/lab/labtest"
	"seckill/internal/ledger"
	"seckill/internal/seckill"
	"seckill/internal/tap"
	"seckill/internal/tap/taptest"
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
	loses := func(verb string) context.Context {
		return tap.With(t.Context(), &taptest.Tap{OnAfter: func(c *tap.Command, err error) error {
			if c.Name == verb {
				return taptest.ErrLostReply
			}
			return err
		}})
	}
	onEachDatabase(t, func(t *testing.T, s *ledger.Store) {
		st, _ := s.Reset(t.Context(), sku, "", 5)
		p := seckill.Purchase{SKU: sku, User: 1, Quantity: 1, RequestID: "a"}
		_, err := sell(loses("COMMIT"), s, p, st.Run)
		if !errors.Is(err, seckill.ErrUnknown) || seckill.NothingTaken(err) {
			t.Errorf("a COMMIT without an answer: %v, want %v", err, seckill.ErrUnknown)
		}
		if _, err := s.FindRequest(t.Context(), sku, 1, "a"); err != nil {
			t.Errorf("the order was committed and cannot be found: %v", err)
		}
		p = seckill.Purchase{SKU: sku, User: 2, Quantity: 1, RequestID: "b"}
		if _, err = sell(loses("INSERT"), s, p, st.Run); !seckill.NothingTaken(err) {
			t.Errorf("an INSERT without an answer is rolled back: %v, want one that proves it", err)
		}
		left, leave := context.WithCancel(t.Context())
		p = seckill.Purchase{SKU: sku, User: 3, Quantity: 1, RequestID: "c"}
		err = s.Tx(left, func(tx *gorm.DB) error {
			_, err := s.Record(tx, p, st.Run, 3)
			leave()
			return err
		})
		if !seckill.NothingTaken(err) {
			t.Errorf("a COMMIT that was not sent: %v, want an error that proves it", err)
		}
	})
}

// Another process has made the same id: an order gets another one, and a batch goes
// without the purchase, which is then sold to by itself.
func TestTwoOrdersOfOneID(t *testing.T) {
	s, _ := onServer(t)
	st, err := s.Reset(t.Context(), sku, "", 5)
	labtest.Must(t, err)
	p := seckill.Purchase{SKU: sku, User: 3, Quantity: 1, RequestID: "a"}
	made := regexp.MustCompile(`VALUES \((\d+), 'o`)
	for way, write := range map[string]func(ctx context.Context) (seckill.Receipt, error){
		"Record":      func(ctx context.Context) (seckill.Receipt, error) { return sell(ctx, s, p, st.Run) },
		"RecordAlone": func(ctx context.Context) (seckill.Receipt, error) { return s.RecordAlone(ctx, p, st.Run, 4) },
		"PlaceAll": func(ctx context.Context) (r seckill.Receipt, err error) {
			others := p
			others.User, others.RequestID = 4, "b"
			batch := []*ledger.Entry{{Purchase: others}, {Purchase: p}} // they are written by user
			err = s.Tx(ctx, func(tx *gorm.DB) error {
				ok, err := s.PlaceAll(tx, st.Run, 5, batch)
				if err == nil && (ok || batch[0].Refused || !batch[1].Refused) {
					t.Errorf("PlaceAll: %t, refused are %t and %t, want the second alone", ok, batch[0].Refused, batch[1].Refused)
				}
				return err
			})
			return batch[0].Receipt, err
		},
	} {
		labtest.Must(t, s.DB(t.Context()).Exec("DELETE FROM orders WHERE sku_id = ?", sku).Error)
		var same int64
		r, err := write(tap.With(t.Context(), &taptest.Tap{OnBefore: func(c *tap.Command) (err error) {
			if c.Name != "INSERT" || same != 0 {
				return nil
			}
			if found := made.FindStringSubmatch(c.Text); found != nil {
				same, err = strconv.ParseInt(found[1], 10, 64)
			} else {
				same = c.Args[0].(int64)
			}
			fill(t, s, sku, st.Run, same, 1)
			return err
		}}))
		if err != nil || same == 0 {
			t.Errorf("%s: %v, with the id %d of another's order", way, err, same)
		} else if o, err := s.Order(t.Context(), r.OrderID); err != nil || o.ID == same {
			t.Errorf("%s: the order is %+v (%v)", way, o, err)
		}
	}
}
