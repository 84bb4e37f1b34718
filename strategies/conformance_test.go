package strategies_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"seckill/internal/backend"
	"seckill/internal/catalog"
	"seckill/internal/judge"
	"seckill/internal/lab/labtest"
	"seckill/internal/ledger"
	"seckill/internal/seckill"
	"seckill/internal/tap"
	"seckill/internal/tap/taptest"
	"seckill/strategies"
	"seckill/strategies/saletest"
)

func TestMain(m *testing.M) { os.Exit(labtest.Main(m)) }

// Fault tests have short limits, so that a lock that was left behind ends within the test. Load
// runs in which nobody dies have a lease that outlasts any stall of the machine: a holder slower
// than its lease may break even a lock that is right.
var (
	hasty = catalog.Settings{LockTimes: catalog.LockTimes{LockWait: time.Second, LockLease: 2 * time.Second},
		Retries: 64}
	// No waiter gives up, because a waiter that leaves the queue is what breaks zk-norecheck.
	patient = catalog.Settings{LockTimes: catalog.LockTimes{LockWait: 30 * time.Second, LockLease: time.Minute},
		Retries: 64}
)

// Every strategy passes this suite on the real servers, or is seen to fail as declared. Its Redis
// user has only the strategy's own rights. Most of the time is waiting. A strategy that locks more
// than its SKU has a database of its own, so that no other test waits for its locks.
func TestConformance(t *testing.T) {
	for _, info := range strategies.All() {
		t.Run(info.Name, func(t *testing.T) {
			t.Parallel()
			config := labtest.Config(t, info.Uses()...)
			if info.Guarantees[catalog.OtherSKUs] == catalog.Breaks {
				config = labtest.InOtherDatabase(t, config)
			}
			conform(t, info, withRights(t, info, config))
		})
	}
}

func conform(t *testing.T, info catalog.Info, config backend.Config) {
	instances := openTwo(t, config)
	h := newHarness(t, info, instances, calm(info))
	t.Run("before the start", h.beforeTheStart)
	t.Run("half a reset", h.halfAReset)
	t.Run("one buyer after the other", h.oneByOne)
	t.Run("cancelling gives back once", h.givesBackOnce)
	t.Run("units are added", h.restocked)
	t.Run("load run over two processes", func(t *testing.T) { h.loadRun(t, 2, h.expected(t)) })
	if !info.Broken() && info.Guarantees[catalog.Processes] == catalog.Breaks {
		t.Run("load run in one process", func(t *testing.T) { h.loadRun(t, 1, catalog.Holds) })
	}
	t.Run("cancelling beside buyers", h.cancelLoadRun)
	h = newHarness(t, info, instances, hasty)
	t.Run("buyer goes before a command", h.buyerGoes)
	t.Run("reply lost after a command", h.replyLost)
	t.Run("reset before a command", h.resetMeanwhile)
}

// calm returns the settings for load runs.
func calm(info catalog.Info) catalog.Settings {
	s := patient
	switch info.Name {
	case "zk-norecheck": // if a waiter gave up, the next one would enter
		s.LockWait = time.Minute
	case "redis-get-set": // the last waiters wait for a lock that nobody takes again
		s.LockWait = time.Second
	}
	return s
}

// A harness is a sale in two service processes.
type harness struct{ *saletest.Sale }

func openTwo(t *testing.T, config backend.Config) (two [2]*backend.Instance) {
	config.ZooKeeperSession = 10 * time.Second // load runs on a busy machine outlast six seconds, so take the longest
	for i := range two {
		two[i] = labtest.Open(t, config)
	}
	return two
}

func newHarness(t *testing.T, info catalog.Info, instances [2]*backend.Instance, s catalog.Settings) *harness {
	h := &harness{saletest.Open(t, info, 5,
		catalog.Deps{Instance: instances[0], Settings: s}, catalog.Deps{Instance: instances[1], Settings: s})}
	for _, built := range h.Processes {
		_, reserves := built.(seckill.Reserver)
		labtest.Same(t, reserves, info.Reserves, "%s has reservations", info.Name)
		_, accepts := built.(seckill.Acceptor)
		labtest.Same(t, accepts, info.Accepts, "%s answers in two steps", info.Name)
	}
	return h
}

func held(t *testing.T, what string, r judge.Report) {
	t.Helper()
	if r.Verdict != judge.Held {
		t.Errorf("%s: the audit says %s, want held: %+v", what, r.Verdict, r.Violations)
	}
}

// heldOrLost judges a sale in which a process died or an answer was lost. A strategy that does not
// promise to survive that may lose units, but nothing may be sold twice.
func (h *harness) heldOrLost(t *testing.T, what string, r judge.Report) {
	t.Helper()
	more := slices.ContainsFunc(r.Violations, func(v judge.Violation) bool { return v.Rule == judge.RuleLostUpdate })
	if r.Verdict == judge.Lost && !more && h.Info.Guarantees[catalog.DeadHolder] == catalog.Breaks {
		t.Logf("%s: units are lost, as %s says of itself: %+v", what, h.Info.Name, r.Violations)
		return
	}
	held(t, what, r)
}

// undersells reports whether the strategy tells buyers sold out too early, without a fault, when
// other buyers hold or ask for the remaining units.
func (h *harness) undersells() bool { return h.Info.Guarantees[catalog.SoldOut] == catalog.Breaks }

// neverOversells reports whether the strategy is shipped as broken because it refuses units that are there.
func (h *harness) neverOversells() bool {
	return h.Info.Broken() && h.Info.Guarantees[catalog.Oversell] == catalog.Holds
}

// A process that believes that the sale is on lets its buyers reach the strategy. Nobody buys
// before the start all the same.
func (h *harness) beforeTheStart(t *testing.T) {
	start := judge.MomentOf(time.Now().Add(time.Hour))
	h.Start = &start
	h.Reset(t, 5)
	h.Start = nil
	for i, s := range h.Processes {
		labtest.Check(t, insist(func() error {
			_, err := s.Deduct(t.Context(), h.Purchase(int64(i+1), 1))
			return err
		}), seckill.ErrNotStarted, "buying an hour early in process %d", i+1)
	}
	if r := h.Judge(t); r.Orders > 0 || r.Remaining != 5 && !h.Info.Broken() {
		t.Errorf("before the start there are %d orders, and %d of 5 are left", r.Orders, r.Remaining)
	}
	labtest.Must(t, h.Store.DB(t.Context()).Exec("UPDATE stock SET starts_at = 1 WHERE id = ?", h.SKU).Error)
	if _, err := h.Processes[0].Deduct(t.Context(), h.Purchase(1, 1)); err != nil && !h.Info.Broken() {
		t.Errorf("the same request after the start: %v", err)
	}
}

// Between the ledger's reset and the reset of a stock that is kept elsewhere, nothing of the last sale's stock is sold,
// and no buyer is told sold out because of it. A reset that comes late or twice changes nothing.
func (h *harness) halfAReset(t *testing.T) {
	r, ok := h.Processes[1].(seckill.Resetter)
	if !ok || h.neverOversells() {
		return
	}
	h.Reset(t, 40)
	row := labtest.Value(h.Store.Schedule(t.Context(), h.SKU, h.Info.Name, 5, nil)).Must(t)
	h.Run, h.Stock = row.Run, 5
	var told []judge.Call
	for user := range int64(3) {
		p := h.Purchase(user+1, 2)
		receipt, err := h.Processes[0].Deduct(t.Context(), p)
		if told = append(told, judge.CallOf(p, receipt, err)); err != nil && !seckill.NothingTaken(err) ||
			errors.Is(err, seckill.ErrSoldOut) && user < 2 {
			t.Errorf("user %d was told %v", p.User, err)
		}
		labtest.Must(t, r.Reset(t.Context(), h.SKU, 5))
	}
	labtest.Same(t, told[1].Outcome, judge.OutcomeSold, "a buyer after the reset was made whole")
	held(t, "after half a reset", h.Judge(t, told...))
}

func (h *harness) oneByOne(t *testing.T) {
	h.Reset(t, 5)
	s := h.Processes[0]
	r, err := s.Deduct(t.Context(), h.Purchase(1, 3))
	if h.neverOversells() {
		refused := h.Judge(t, judge.CallOf(h.Purchase(1, 3), r, err))
		if !slices.ContainsFunc(refused.Violations,
			func(v judge.Violation) bool { return v.Rule == judge.RuleUndersold }) {
			t.Errorf("%s is shipped as broken and was not seen to refuse 3 of 5: %+v, %v", h.Info.Name, r, err)
		}
		return
	}
	if err != nil || r.OrderID == "" || r.SKU != h.SKU || r.Quantity != 3 || r.Remaining != 2 ||
		r.Strategy != h.Info.Name {
		t.Fatalf("buying 3 of 5 gave %+v, %v", r, err)
	}
	o, err := h.Store.Order(t.Context(), r.OrderID)
	if err != nil || o.Receipt() != r || o.UserID != 1 || o.RequestID != h.Purchase(1, 3).RequestID {
		t.Errorf("the ledger has %+v, %v, want what the receipt says: %+v", o, err, r)
	}
	for what, c := range map[string]struct {
		p    seckill.Purchase
		want error
	}{
		"more than there are": {h.Purchase(2, 3), seckill.ErrSoldOut},
		"the same user again": {seckill.Purchase{SKU: h.SKU, User: 1, Quantity: 1,
			RequestID: fmt.Sprint("again", h.SKU)}, seckill.ErrDuplicate},
		"the same request again": {h.Purchase(1, 1), seckill.ErrDuplicate},
		"a SKU that is not there": {seckill.Purchase{SKU: 1 << 40, User: 9, Quantity: 1, RequestID: "r"},
			seckill.ErrUnknownSKU},
		"the same user in another request's id": {seckill.Purchase{SKU: h.SKU, User: 1, Quantity: 2,
			RequestID: fmt.Sprint("other", h.SKU)}, seckill.ErrDuplicate},
	} {
		// conditional does not check that the SKU exists, because the service has done so.
		unseen := errors.Is(c.want, seckill.ErrUnknownSKU) && strings.HasPrefix(h.Info.Name, "conditional")
		if _, err := s.Deduct(t.Context(), c.p); !errors.Is(err, c.want) &&
			!(unseen && errors.Is(err, seckill.ErrSoldOut)) {
			t.Errorf("%s: got %v, want %v", what, err, c.want)
		}
	}
	_, err = s.Deduct(t.Context(), h.Purchase(3, 2))
	// A scan for another SKU holds the row behind its own rows for a moment. A strategy that skips
	// held rows takes this row's unit for sold.
	for range 5 {
		if errors.Is(err, seckill.ErrSoldOut) && h.undersells() {
			_, err = s.Deduct(t.Context(), h.Purchase(3, 2))
		}
	}
	labtest.Check(t, err, nil, "buying the last 2")
	held(t, "after five units for two buyers", h.Judge(t))
}

func (h *harness) givesBackOnce(t *testing.T) {
	h.Reset(t, 5)
	r := labtest.Value(h.Processes[0].Deduct(t.Context(), h.Purchase(1, 2))).Must(t)
	var g errgroup.Group
	for i := range 8 {
		g.Go(func() error {
			for { // as a buyer does who is told to try again later
				err := h.Processes[i%2].Restore(t.Context(), r.OrderID)
				if !errors.Is(err, seckill.ErrBusy) || t.Context().Err() != nil {
					return err
				}
			}
		})
	}
	labtest.Check(t, g.Wait(), nil, "cancelling the same order eight times at once")
	report := h.Judge(t)
	held(t, "after cancelling", report)
	if report.Remaining != 5 || report.Cancelled != 1 {
		t.Errorf("%d left and %d cancelled, want 5 and 1", report.Remaining, report.Cancelled)
		again := seckill.Purchase{SKU: h.SKU, User: 1, Quantity: 1, RequestID: fmt.Sprint("anew", h.SKU)}
		labtest.Value(h.Processes[1].Deduct(t.Context(), again)).Check(t, nil, "buying again after cancelling")
	}
	labtest.Check(t, h.Processes[0].Restore(t.Context(), "no-such-order"), seckill.ErrUnknownOrder,
		"cancelling an order that is not there")
}

// Copies of one call add units to a sale. A buyer of another process gets these units, once.
func (h *harness) restocked(t *testing.T) {
	if h.Info.Broken() {
		return
	}
	h.Reset(t, 2)
	r, err := h.Processes[0].Deduct(t.Context(), h.Purchase(1, 2))
	told := []judge.Call{judge.CallOf(h.Purchase(1, 2), r, err)}
	units := ledger.Restock{SKU: h.SKU, Units: 3, Key: "more"}
	var g errgroup.Group
	for i := range 4 {
		g.Go(func() error {
			for {
				_, _, err := ledger.AddUnits(t.Context(), h.Store.For(h.Info.Name), h.Processes[i%2], units)
				if !errors.Is(err, seckill.ErrPending) && !errors.Is(err, seckill.ErrBusy) || t.Context().Err() != nil {
					return err
				}
			}
		})
	}
	labtest.Check(t, g.Wait(), nil, "adding units by four calls with one key")
	told = append(told, judge.Call{Kind: judge.CallRestock, RequestID: units.Key, User: judge.OperatorOf(units.Key),
		Quantity: 3, Outcome: judge.OutcomeRestocked})
	r, err = h.Processes[1].Deduct(t.Context(), h.Purchase(2, 3))
	if told = append(told, judge.CallOf(h.Purchase(2, 3), r, err)); err != nil {
		t.Errorf("buying the 3 that were added: %v", err)
	}
	held(t, "after a restock", h.Judge(t, told...))
	units.Units = 4
	_, _, err = ledger.AddUnits(t.Context(), h.Store.For(h.Info.Name), h.Processes[0], units)
	labtest.Check(t, err, seckill.ErrMismatch, "the same key for other units")
}

// expected returns how a load run over two processes must end on this server. A MariaDB with
// innodb_snapshot_isolation refuses the statement with which snapshot-first and unlock-before-commit oversell.
func (h *harness) expected(t *testing.T) catalog.Expectation {
	t.Helper()
	var refuses int
	err := h.Store.DB(t.Context()).Raw("SELECT COUNT(*) FROM information_schema.SYSTEM_VARIABLES " +
		"WHERE VARIABLE_NAME = 'INNODB_SNAPSHOT_ISOLATION' AND SESSION_VALUE = 'ON'").Scan(&refuses).Error
	if slices.Contains([]string{"snapshot-first", "unlock-before-commit"}, h.Info.Name) && err == nil &&
		refuses > 0 { // MySQL has no such table
		return catalog.Holds
	}
	return h.Info.Guarantees[catalog.Processes]
}

// loadRun sells to buyers that are spread over several processes. A strategy that is declared
// to hold must hold. A strategy that is shipped as broken must break in one of ten runs.
func (h *harness) loadRun(t *testing.T, processes int, expect catalog.Expectation) {
	breaks := expect == catalog.Breaks && !h.neverOversells()
	rounds := 1
	if breaks || labtest.Verify {
		rounds = 10
	}
	for range rounds {
		seed := rand.Uint64()
		report := h.round(t, processes, seed)
		switch {
		case breaks && report.Verdict == judge.Oversold:
			return
		case breaks:
		case h.neverOversells():
			if report.Verdict == judge.Oversold {
				t.Errorf("%s never oversells, as it says of itself; seed %d: %+v", h.Info.Name, seed, report)
			}
		default:
			if h.undersells() && len(report.Violations) == 1 && report.Violations[0].Rule == judge.RuleUndersold {
				continue
			}
			held(t, fmt.Sprintf("load run with seed %d", seed), report)
		}
	}
	if breaks {
		t.Errorf("%s is shipped as broken and was not seen to oversell with %d processes", h.Info.Name, processes)
	}
}

// round runs one sale, in which some buyers want two units.
func (h *harness) round(t *testing.T, processes int, seed uint64) judge.Report {
	buyers, together, units := 60, 16, int64(25)
	if h.Info.Broken() || processes == 2 && h.Info.Guarantees[catalog.Processes] == catalog.Breaks {
		buyers, together, units = 120, 32, 50
	}
	quantities := rand.New(rand.NewPCG(seed, 0))
	h.Reset(t, units)
	heard := make([]judge.Call, buyers)
	var g errgroup.Group
	g.SetLimit(together)
	for i := range heard {
		p := h.Purchase(int64(i+1), 1+quantities.Int64N(2))
		g.Go(func() error {
			r, err := h.Processes[i%processes].Deduct(t.Context(), p)
			heard[i] = judge.CallOf(p, r, err)
			if heard[i].Outcome == judge.OutcomeUnknown {
				return fmt.Errorf("user %d: an unknown outcome with every server alive: %w", p.User, err)
			}
			return nil
		})
	}
	labtest.Must(t, g.Wait())
	return h.Judge(t, heard...)
}

// Giving back needs the same guard as taking: buyers who cancel at once must not lose anybody's update.
func (h *harness) cancelLoadRun(t *testing.T) {
	if h.Info.Broken() {
		t.Log("shipped as broken: nothing is promised here")
		return
	}
	processes := 2
	if h.Info.Guarantees[catalog.Processes] == catalog.Breaks {
		processes = 1
	}
	buyers, together, units := 30, 16, int64(30)
	switch {
	case labtest.Verify:
		buyers, together, units = 200, 32, 200
	case h.Info.Locker != nil: // all locks share the cancellation code of lock.Guarded
		buyers, together, units = 16, 8, 16
	}
	h.Reset(t, units)
	var g errgroup.Group
	g.SetLimit(together)
	for i := range buyers {
		g.Go(func() error {
			p := h.Purchase(int64(i+1), 1)
			var r seckill.Receipt
			err := insist(func() (err error) {
				r, err = h.Processes[i%processes].Deduct(t.Context(), p)
				return err
			})
			if err == nil && i%2 == 0 {
				err = insist(func() error { return h.Processes[i/2%processes].Restore(t.Context(), r.OrderID) })
			}
			if seckill.NothingTaken(err) {
				return nil
			}
			return err
		})
	}
	labtest.Must(t, g.Wait())
	report := h.Judge(t)
	held(t, "buying and cancelling at once", report)
	if report.Cancelled == 0 {
		t.Error("nobody managed to cancel, so nothing was tested")
	}
}

// insist repeats a call that is answered busy, at most twenty times.
func insist(try func() error) (err error) {
	for n := 0; n == 0 || n < 20 && errors.Is(err, seckill.ErrBusy); n++ {
		err = try()
	}
	return err
}

// atCommands runs one purchase for each command: the fault that meet makes hits the first command of the first
// purchase, the second command of the second, and so on, until a purchase has no such command. In make test there is a
// single purchase, whose fault hits the command that makes the sale final.
func (h *harness) atCommands(t *testing.T, meet func(n int) (hit bool)) {
	if !labtest.Verify {
		n := h.final(t)
		if !meet(n) {
			t.Errorf("a purchase has no command %d", n)
		}
		return
	}
	for n := 1; meet(n); n++ {
	}
}

// final returns the number of the command that makes a sale final: the COMMIT or, if there is none, the last command.
func (h *harness) final(t *testing.T) int {
	t.Helper()
	h.Reset(t, 5)
	a := &taptest.Nth{}
	labtest.Value(h.Processes[0].Deduct(tap.With(t.Context(), a), h.Purchase(1, 2))).Must(t)
	if n := slices.Index(a.Seen(), "COMMIT"); n >= 0 {
		return n + 1
	}
	return len(a.Seen())
}

// where names the command that the fault hit, after the commands before it.
func where(a *taptest.Nth) string {
	return fmt.Sprintf("command %d of %s", a.N, strings.Join(a.Seen(), ", "))
}

// surviving makes act hit a purchase at a command. Then it checks that the ledger agrees with the
// buyer's answer, and that the next buyer can buy.
func (h *harness) surviving(t *testing.T, act func(n int, cancel context.CancelFunc) *taptest.Nth) {
	h.atCommands(t, func(n int) bool {
		h.Reset(t, 5)
		ctx, cancel := context.WithCancel(t.Context())
		a := act(n, cancel)
		first := h.Purchase(1, 2)
		r, err := h.Processes[0].Deduct(tap.With(ctx, a), first)
		cancel()
		hit, reached := a.Reached(), where(a)
		heard := []judge.Call{judge.CallOf(first, r, err)}
		second := h.Purchase(2, 1)
		patience := 20 * time.Second
		if h.Info.Guarantees[catalog.DeadHolder] == catalog.Breaks { // a lock that was left behind may stay for ever
			patience = hasty.LockWait + hasty.LockLease
		}
		next, cancelNext := context.WithTimeout(t.Context(), patience)
		for { // as a buyer does who is told to try again later
			r, err = h.Processes[1].Deduct(next, second)
			if !errors.Is(err, seckill.ErrBusy) || next.Err() != nil {
				break
			}
		}
		// The deadline of a socket may come a moment before the end of its context.
		end, _ := next.Deadline()
		outwaited := time.Until(end) < time.Second || errors.Is(err, seckill.ErrBusy)
		cancelNext()
		switch {
		case err != nil && outwaited && h.Info.Guarantees[catalog.DeadHolder] == catalog.Breaks:
			t.Logf("%s: no buyer gets through any more, as %s says of itself", reached, h.Info.Name)
		case err != nil:
			t.Errorf("%s: the next buyer was told %v", reached, err)
		}
		heard = append(heard, judge.CallOf(second, r, err))
		h.heldOrLost(t, reached, h.Judge(t, heard...))
		return hit
	})
}

func (h *harness) buyerGoes(t *testing.T) {
	h.surviving(t, func(n int, cancel context.CancelFunc) *taptest.Nth {
		return &taptest.Nth{N: n, OnBefore: cancel}
	})
}

func (h *harness) replyLost(t *testing.T) {
	h.surviving(t, func(n int, _ context.CancelFunc) *taptest.Nth {
		return &taptest.Nth{N: n, OnAfter: func(error) error { return taptest.ErrLostReply }}
	})
}

// A reset comes in the middle of a purchase. Whatever the strategy, the purchase of the old sale must not write into
// the new one. If the purchase has taken the row or the lock, the reset waits, and the purchase ends in the old sale.
func (h *harness) resetMeanwhile(t *testing.T) {
	h.atCommands(t, func(n int) (hit bool) {
		h.Reset(t, 5)
		done := make(chan struct{})
		a := &taptest.Nth{N: n, OnBefore: func() {
			go func() {
				defer close(done)
				h.Reset(t, 40)
			}()
			select {
			case <-done:
			case <-time.After(200 * time.Millisecond): // the reset waits for this purchase
			}
		}}
		_, err := h.Processes[0].Deduct(tap.With(t.Context(), a), h.Purchase(1, 2))
		reached := where(a)
		if !a.Reached() {
			return false
		}
		<-done
		if err != nil && !seckill.NothingTaken(err) {
			t.Errorf("%s: %v", reached, err)
		}
		labtest.Value(h.Processes[1].Deduct(t.Context(), h.Purchase(2, 1))).Check(t, nil,
			"after a reset before %s: the next buyer", reached)
		held(t, "reset before "+reached, h.Judge(t))
		return true
	})
}
