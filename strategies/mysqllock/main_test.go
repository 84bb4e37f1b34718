package mysqllock

import (
	"context"
	"fmt"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"seckill/internal/backend"
	"seckill/internal/catalog"
	"seckill/internal/lab/labtest"
	"seckill/internal/ledger"
	"seckill/internal/lock"
	"seckill/internal/lock/locktest"
	"seckill/internal/seckill"
)

func TestMain(m *testing.M) { os.Exit(labtest.Main(m)) }

var lockInfos = []catalog.Info{LockInsertPlain, LockInsertByName, LockInsert, LockRow, LockTableV1, LockTableCentral,
	LockTableSegmented, GetLock}

// eachLock runs a test for every lock of the family.
func eachLock(t *testing.T, f func(t *testing.T, info catalog.Info)) {
	for _, info := range lockInfos {
		t.Run(info.Name, func(t *testing.T) { f(t, info) })
	}
}

// A bench is a lock on an instance of its own.
type bench struct {
	lock.Locker
	in      *backend.Instance
	key     string
	retried *counted
}

type counted struct{ n atomic.Int64 }

func (*counted) LockWaited(float64) {}
func (c *counted) Retried()         { c.n.Add(1) }

var testSettings = catalog.Settings{LockTimes: catalog.LockTimes{LockWait: 3 * time.Second, LockLease: time.Minute, LockPoll: 2 * time.Millisecond}}

func instance(t testing.TB) *backend.Instance {
	t.Helper()
	return labtest.Instance(t, backend.SQL, backend.RowLocks)
}

func newBench(t *testing.T, info catalog.Info, change ...func(*catalog.Deps)) *bench {
	t.Helper()
	in := instance(t)
	b := &bench{in: in, key: "test:" + strings.ReplaceAll(t.Name(), "/", ":"), retried: &counted{}}
	d := catalog.Deps{Instance: in, Settings: testSettings, Observe: b.retried}
	for _, c := range change {
		c(&d)
	}
	l, err := catalog.NewLocker(info, d)
	labtest.Must(t, err)
	b.Locker = l
	return b
}

func (b *bench) acquire(t *testing.T, o lock.Options) lock.Lease {
	t.Helper()
	return locktest.Take(t, b, b.key, o)
}

func (b *bench) busy(t *testing.T) {
	t.Helper()
	locktest.Busy(t, b, b.key)
}

// exec runs a statement on the side of the database's operator.
func (b *bench) exec(t *testing.T, statement string, args ...any) int64 {
	t.Helper()
	res := b.in.DB.WithContext(context.Background()).Exec(statement, args...)
	if res.Error != nil {
		t.Fatal(res.Error)
	}
	return res.RowsAffected
}

func (b *bench) ask(t *testing.T, query string, args ...any) (answer int64) {
	t.Helper()
	labtest.Must(t, b.in.DB.WithContext(context.Background()).Raw(query, args...).Scan(&answer).Error)
	return answer
}

// sale is a ledger with one SKU in it.
func sale(t *testing.T, info catalog.Info, sku, stock int64) (seckill.Strategy, *ledger.Store) {
	t.Helper()
	in := instance(t)
	labtest.Must(t, ledger.Migrate(t.Context(), in.DB))
	store := ledger.NewStore(in.DB)
	s, err := catalog.Build(info, catalog.Deps{Instance: in, Ledger: store, Settings: testSettings})
	labtest.Must(t, err)
	if stock >= 0 {
		if _, err := store.Reset(t.Context(), sku, "test", stock); err != nil {
			t.Fatal(err)
		}
		if r, ok := s.(seckill.Resetter); ok {
			labtest.Must(t, r.Reset(t.Context(), sku, stock))
		}
	}
	return s, store
}

func purchase(sku, user, quantity int64) seckill.Purchase {
	return seckill.Purchase{SKU: sku, User: user, Quantity: quantity, RequestID: fmt.Sprint("r", sku, "-", user)}
}
