package strategies_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"seckill/internal/backend"
	"seckill/internal/catalog"
	"seckill/internal/lab/labtest"
	"seckill/internal/ledger"
	"seckill/internal/seckill"
	"seckill/strategies"
)

// On a real Redis Cluster, with replies that are lost now and then, two
// processes storm every strategy that uses Redis: none that is to hold sells
// more than there is, or one unit twice.
func TestStormOnAClusterThatLosesReplies(t *testing.T) {
	needs := []backend.Capability{backend.SQL, backend.Redis}
	config := labtest.OnCluster(t, needs...)
	var lost atomic.Int64
	config.WrapConn = func(c net.Conn) net.Conn { return &leaky{Conn: c, lost: &lost} }
	processes := make([]*backend.Instance, 2)
	for i := range processes {
		in, err := backend.Open(t.Context(), config)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { in.Close() })
		processes[i] = in
	}
	if err := ledger.Migrate(t.Context(), processes[0].DB); err != nil {
		t.Fatal(err)
	}
	sku := int64(91000)
	for _, info := range strategies.All() {
		usesRedis := false
		for _, need := range info.Needs {
			usesRedis = usesRedis || need == backend.Redis
		}
		if !usesRedis || info.Broken() || len(info.Missing(processes[0])) > 0 {
			continue
		}
		sku++
		t.Run(info.Name, func(t *testing.T) { stormLeaky(t, info, processes, sku) })
	}
	t.Logf("%d replies were lost", lost.Load())
	if lost.Load() == 0 {
		t.Error("no reply was lost: the test has shown nothing")
	}
}

func stormLeaky(t *testing.T, info catalog.Info, processes []*backend.Instance, sku int64) {
	const stock, buyers = 10, 40
	leaking.Store(false)
	var sellers []seckill.Strategy
	for _, in := range processes {
		s, err := catalog.Build(info, catalog.Deps{Instance: in, Ledger: ledger.NewStore(in.DB), Settings: catalog.Settings{
			LockWait: 300 * time.Millisecond, LockLease: time.Second, LockPoll: 2 * time.Millisecond, Retries: 8}})
		if err != nil {
			t.Fatal(err)
		}
		sellers = append(sellers, s)
	}
	store := ledger.NewStore(processes[0].DB)
	if _, err := store.Reset(t.Context(), sku, info.Name, stock); err != nil {
		t.Fatal(err)
	}
	if r, ok := sellers[0].(seckill.Resetter); ok {
		if err := r.Reset(t.Context(), sku, stock); err != nil {
			t.Fatal(err)
		}
	}
	leaking.Store(true)
	defer leaking.Store(false)
	var sold atomic.Int64
	queue := make(chan int64)
	var storm sync.WaitGroup
	for i := range 8 {
		storm.Go(func() {
			for user := range queue {
				r, err := sellers[i%2].Deduct(t.Context(), seckill.Purchase{SKU: sku, User: user, Quantity: 1,
					RequestID: fmt.Sprintf("storm-%d-%d", sku, user)})
				if err == nil && sold.Add(1)%3 == 0 {
					_ = sellers[(i+1)%2].Restore(t.Context(), r.OrderID)
				}
			}
		})
	}
	for user := range int64(buyers) {
		queue <- user + 1
	}
	close(queue)
	storm.Wait()
	var active int64
	err := store.Read(t.Context(), &active, "SELECT COALESCE(SUM(quantity), 0) FROM orders WHERE sku_id = ? AND status = ? AND run = "+
		"(SELECT run FROM stock WHERE id = ?)", sku, ledger.Active, sku)
	if err != nil {
		t.Fatal(err)
	}
	row, err := store.SKU(t.Context(), sku)
	if err != nil || active > stock || row.Num < 0 || sold.Load() == 0 {
		t.Errorf("%d of %d are sold, %d buyers were told so, the row says %d (%v)", active, stock, sold.Load(), row.Num, err)
	}
	if info.Stock == ledger.HomeRow && row.Num+active != stock {
		t.Errorf("the row says %d, and %d of %d are sold: an update was lost", row.Num, active, stock)
	}
}

// leaking: replies of Redis are lost.
var leaking atomic.Bool

// A leaky connection to Redis loses every twentieth reply to a script, a
// transaction or a SET, once it has run.
type leaky struct {
	net.Conn
	lost *atomic.Int64
	sent atomic.Bool
}

var asked atomic.Int64

func (c *leaky) Write(b []byte) (int, error) {
	if leaking.Load() {
		for _, verb := range []string{"\r\nevalsha\r\n", "\r\nmulti\r\n", "\r\nset\r\n", "\r\nsetnx\r\n", "\r\ndel\r\n"} {
			if bytes.Contains(b, []byte(verb)) && asked.Add(1)%20 == 0 {
				c.sent.Store(true)
			}
		}
	}
	return c.Conn.Write(b)
}

func (c *leaky) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	if err == nil && c.sent.Load() {
		c.lost.Add(1)
		c.Conn.Close()
		return 0, io.EOF
	}
	return n, err
}

func (c *leaky) SyscallConn() (syscall.RawConn, error) {
	s, ok := c.Conn.(syscall.Conn)
	if !ok {
		return nil, errors.ErrUnsupported
	}
	return s.SyscallConn()
}
