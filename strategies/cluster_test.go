package strategies_test

import (
	"bytes"
	"errors"
	"io"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"seckill/internal/backend"
	"seckill/internal/catalog"
	"seckill/internal/lab/labtest"
	"seckill/internal/ledger"
	"seckill/internal/seckill"
	"seckill/strategies"
)

// On a real Redis Cluster, with replies that are lost now and then, two
// processes run load on every strategy that uses Redis: none that is to hold sells
// more than there is, or one unit twice, and what is shipped to break breaks.
func TestLoadRunOnAClusterThatLosesReplies(t *testing.T) {
	config := labtest.OnCluster(t, backend.SQL, backend.Redis)
	var lost atomic.Int64
	config.WrapConn = func(c net.Conn) net.Conn { return &leaky{Conn: c, lost: &lost} }
	processes := openTwo(t, config)
	for i, info := range strategies.All() {
		if !slices.Contains(info.Needs, backend.Redis) || len(info.Missing(processes[0])) > 0 {
			continue
		}
		t.Run(info.Name, func(t *testing.T) {
			before := lost.Load()
			newHarness(t, info, processes, brief, int64(91_000+i)).leakyLoadRun(t)
			t.Logf("%d replies were lost", lost.Load()-before)
		})
	}
	if lost.Load() == 0 {
		t.Error("no reply was lost: the test has shown nothing")
	}
}

// brief: whoever lost the reply to a lock that was granted leaves it to its
// lease.
var brief = catalog.Settings{LockTimes: catalog.LockTimes{LockWait: 300 * time.Millisecond, LockLease: time.Second, LockPoll: 2 * time.Millisecond}, Retries: 8}

// leakyLoadRun sells with replies lost. What is broken may need several sales to be
// seen: it depends on who meets whom.
func (h *harness) leakyLoadRun(t *testing.T) {
	if !h.info.Broken() {
		h.heldOrLost(t, "a load run with replies lost", h.leakySale(t, 10, 40, 8))
		return
	}
	const most = 20
	var report ledger.Report
	for range most {
		if report = h.leakySale(t, 30, 120, 32); report.Verdict == ledger.Oversold {
			return
		}
	}
	t.Errorf("shipped as broken, and was not seen to oversell in %d sales: %+v", most, report)
}

// leakySale has the judge compare the books with what the callers were told: unknown
// where a reply was lost.
func (h *harness) leakySale(t *testing.T, stock int64, buyers, together int) ledger.Report {
	leaking.Store(false)
	h.reset(t, stock)
	var mu sync.Mutex
	var heard []ledger.Told
	outcomes := map[ledger.Outcome]int{}
	hear := func(one ledger.Told) (nth int) {
		mu.Lock()
		defer mu.Unlock()
		heard = append(heard, one)
		outcomes[one.Outcome]++
		return outcomes[one.Outcome]
	}
	// A lock whose reply is lost may be left for ever: one is sold before.
	p := h.purchase(int64(buyers+1), 1)
	r, err := h.strategies[0].Deduct(t.Context(), p)
	if hear(told(p, r, err)); err != nil {
		t.Fatal(err)
	}
	leaking.Store(true)
	var g errgroup.Group
	g.SetLimit(together)
	for i := range buyers {
		g.Go(func() error {
			p := h.purchase(int64(i+1), 1)
			r, err := h.strategies[i%2].Deduct(t.Context(), p)
			if nth := hear(told(p, r, err)); err == nil && nth%3 == 0 {
				err = h.strategies[(i+1)%2].Restore(t.Context(), r.OrderID)
				hear(toldCancel(p, r, err))
			}
			return nil
		})
	}
	_ = g.Wait()
	leaking.Store(false)
	report := h.judge(t, stock, heard)
	t.Logf("the audit says %s; the callers were told %v", report.Verdict, outcomes)
	return report
}

// toldCancel is what a caller of Restore knows afterwards.
func toldCancel(p seckill.Purchase, r seckill.Receipt, err error) ledger.Told {
	t := ledger.Told{Call: ledger.CallCancel, RequestID: p.RequestID, User: p.User, Quantity: p.Quantity,
		OrderID: r.OrderID, Outcome: ledger.OutcomeUnknown}
	switch {
	case err == nil:
		t.Outcome = ledger.OutcomeCancelled
	case seckill.NothingTaken(err):
		t.Outcome = ledger.OutcomeError
	}
	return t
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
