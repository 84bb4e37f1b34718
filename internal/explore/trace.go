package explore

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"seckill/internal/backend"
	"seckill/internal/catalog"
	"seckill/internal/judge"
	"seckill/internal/ledger"
	"seckill/internal/probe"
	"seckill/internal/seckill"
	"seckill/internal/tap"
)

// A Trace is a recording, in real time, of one purchase or of two concurrent ones. It has every command with its
// time, duration and reply, and the periods during which the lock was held. A Schedule shows what could happen; a
// Trace shows what really happened.
type Trace struct {
	Strategy string        `json:"strategy"`
	Stock    int64         `json:"stock"`
	Buyers   []Buyer       `json:"buyers"`
	Before   []probe.Value `json:"before"` // what the servers stored before the purchases
	After    []probe.Value `json:"after"`
	Steps    []SentCommand `json:"steps"`
	Held     []HeldPeriod  `json:"held"`
	Told     []Answer      `json:"told"`
	Problems []Problem     `json:"problems"` // what the judge found
	Cut      bool          `json:"cut"`      // the steps after the first maxTraceSteps are missing
}

const (
	// traceStock is the number of units on sale. It is enough for either buyer, but not for both together.
	traceStock = 2
	// maxTraceSteps is the maximum number of steps in a Trace, because a buyer that polls sends many commands.
	maxTraceSteps = 500
)

type traceRun struct {
	*StrategyProcess
	probes *probe.Set
	names  *Normalizer
	sku    int64
}

// RecordTrace lets one or two buyers buy at the same time, with the strategy of info on the backends of config. It
// returns an error if nothing could be recorded; an error of a buyer is part of the Trace. Only one trace at a time may
// use a database.
func RecordTrace(ctx context.Context, config backend.Config, info catalog.Info, buyers int) (t *Trace, err error) {
	config = config.Only(info.Uses()...) // a trace shows every open backend, so only those in use are opened
	config.MaxSQLConns = 8
	p, err := StartProcess(ctx, config, info, catalog.DefaultSettings(), nil)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, p.In.Close()) }()
	// The SKU has so many digits that a Normalizer can find it in the text of any command.
	r := &traceRun{StrategyProcess: p, probes: probe.Of(p.In, info), sku: seckill.TracedSKU + time.Now().UnixMilli()}
	r.names = NewNormalizer(r.sku)
	if err := ledger.Migrate(ctx, p.In.DB); err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, r.remove(context.WithoutCancel(ctx))) }()
	t = &Trace{Strategy: info.Name, Stock: traceStock, Problems: []Problem{}}
	for i := range buyers {
		t.Buyers = append(t.Buyers, Buyer{Name: string(rune('A' + i)), Quantity: int64(buyers - i), Action: Buys})
	}
	// The buyers buy once without a recording, so that connections are open and servers
	// know the scripts. The outcome does not matter.
	if err := r.reset(ctx); err != nil {
		return nil, err
	}
	var all sync.WaitGroup
	for _, b := range t.Buyers {
		all.Go(func() { _, _ = p.Strategy.Deduct(ctx, r.purchase(b, "before")) })
	}
	all.Wait()
	if err := r.reset(ctx); err != nil {
		return nil, err
	}
	return t, r.record(ctx, t)
}

func (r *traceRun) reset(ctx context.Context) error {
	if err := r.Reset(ctx, r.sku, "traced", traceStock); err != nil {
		return fmt.Errorf("put the trace's SKU on sale: %w", err)
	}
	return nil
}

// purchase returns a purchase of buyer b. The text request becomes part of the key, so that each purchase of b has a
// key of its own.
func (r *traceRun) purchase(b Buyer, request string) seckill.Purchase {
	return seckill.Purchase{SKU: r.sku, User: int64(b.Name[0]-'A') + 1, Quantity: b.Quantity,
		RequestID: fmt.Sprintf("%s-%s-%d", b.Name, request, r.sku)}
}

func (r *traceRun) record(ctx context.Context, t *Trace) error {
	t.Before = r.probes.Values(ctx, r.sku, r.names.Normalize)
	told := make([]judge.Call, len(t.Buyers))
	t.Told = make([]Answer, len(t.Buyers))
	// All buyers wait before their first command until every buyer has reached it, so that
	// none wins the race only because it was started first.
	var ready, all sync.WaitGroup
	ready.Add(len(t.Buyers))
	recorder := NewRecorder(r.names)
	for i, b := range t.Buyers {
		all.Go(func() {
			arrive := sync.OnceFunc(ready.Done)
			p := r.purchase(b, "recorded")
			got, err := r.Strategy.Deduct(tap.With(ctx, NewGate(recorder, b.Name, func(int, *tap.Command) bool {
				arrive()
				ready.Wait()
				return false
			})), p)
			arrive() // a buyer that ends without a command must not block the other buyer
			told[i] = judge.CallOf(p, got, err)
			t.Told[i] = Answer{Who: b.Name, Answer: Outcome{Buyer: b, Receipt: got, Err: err}.Answer()}
		})
	}
	all.Wait()
	for i := range t.Told {
		t.Told[i].Answer = r.names.Normalize(t.Told[i].Answer)
	}
	t.After = r.probes.Values(ctx, r.sku, r.names.Normalize)
	t.Steps, t.Held = recorder.Snapshot()
	if t.Cut = len(t.Steps) > maxTraceSteps; t.Cut {
		t.Steps = t.Steps[:maxTraceSteps]
	}
	e, err := catalog.Evidence(ctx, r.Store, r.sku, []catalog.Seller{{Info: r.Info, Strategy: r.Strategy}})
	if err != nil {
		return fmt.Errorf("audit the trace: %w", err)
	}
	e.Initial, e.Calls = traceStock, told
	for _, v := range judge.Judge(e).Violations {
		t.Problems = append(t.Problems, Problem{Rule: v.Rule, Message: v.Message})
	}
	return nil
}

// remove deletes the rows of the SKU, so that lists of SKUs do not show it.
func (r *traceRun) remove(ctx context.Context) error {
	for _, q := range []string{"DELETE FROM orders WHERE sku_id = ?", "DELETE FROM stock WHERE id = ?"} {
		if err := r.In.DB.WithContext(ctx).Exec(q, r.sku).Error; err != nil {
			return fmt.Errorf("remove the trace's SKU: %w", err)
		}
	}
	return nil
}

// A SentCommand is one recorded command or wait of a buyer. Its texts are normalized, and
// its times are microseconds since the recorder began.
type SentCommand struct {
	Who        string `json:"who"`
	Backend    string `json:"backend"` // one of the values of tap.Command.Backend
	Text       string `json:"command"`
	Result     string `json:"result,omitempty"` // the error of the command; "" after success
	Reply      string `json:"reply,omitempty"`
	At         int64  `json:"start_us"`
	Took       int64  `json:"took_us"`              // the duration; up to the Snapshot if the command has not returned
	Background bool   `json:"background,omitempty"` // sent by a goroutine that renews a lock

	Command *tap.Command `json:"-"`
	Done    bool         `json:"-"`
}

// A HeldPeriod is the time from the grant of a lock to the call of its release. The
// lock has failed if the periods of two buyers overlap.
type HeldPeriod struct {
	Who  string `json:"who"`
	From int64  `json:"from_us"`
	To   int64  `json:"to_us"` // the end; the time of the Snapshot if the lock is still held
}

// A Recorder records the commands of several buyers and the times at which each holds the lock. All
// times are of one clock. It is safe for concurrent use.
type Recorder struct {
	mu    sync.Mutex
	names *Normalizer
	began time.Time
	list  []*SentCommand
	held  []HeldPeriod
}

// NewRecorder returns a Recorder whose clock starts now.
func NewRecorder(names *Normalizer) *Recorder {
	return &Recorder{names: names, began: time.Now()}
}

func (r *Recorder) elapsed() int64 { return time.Since(r.began).Microseconds() }

// Snapshot returns the commands so far, in the order in which they were sent, and the
// periods during which the lock was held.
func (r *Recorder) Snapshot() (list []SentCommand, held []HeldPeriod) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, s := range r.list {
		sent := *s
		if !sent.Done {
			sent.Took = r.elapsed() - sent.At
		}
		list = append(list, sent)
	}
	held = slices.Clone(r.held)
	for i := range held {
		if held[i].To == 0 {
			held[i].To = r.elapsed()
		}
	}
	return list, held
}

// A Gate is the tap.Tap and LockObserver of one buyer. It records the buyer's commands and locks. It also stops the
// buyer before one command, which a function selects (see NewGate), until Open is called.
type Gate struct {
	*Recorder
	Reached chan struct{} // closed when the buyer has stopped at the gate
	Open    func()        // lets the buyer go on

	who          string
	isBackground bool // the Gate belongs to a background goroutine, which it never stops
	stopAt       func(n int, c *tap.Command) bool
	reach        func()
	opened       chan struct{}
	n            atomic.Int64 // number of the buyer's commands so far, without those of its background goroutines
}

// NewGate returns a Gate that stops the buyer before the first command for which the function
// stopAt returns true. The argument n is the number of the command, from 0.
func NewGate(r *Recorder, who string, stopAt func(n int, c *tap.Command) bool) *Gate {
	g := &Gate{Recorder: r, who: who, stopAt: stopAt, Reached: make(chan struct{}), opened: make(chan struct{})}
	g.Open = sync.OnceFunc(func() { close(g.opened) })
	g.reach = sync.OnceFunc(func() { close(g.Reached) })
	return g
}

// Fork implements tap.Forker.
func (g *Gate) Fork() (tap.Tap, func()) {
	return &Gate{Recorder: g.Recorder, who: g.who, isBackground: true}, func() {}
}

func (g *Gate) Before(_ context.Context, c *tap.Command) error {
	if !g.isBackground && g.stopAt(int(g.n.Add(1)-1), c) {
		g.reach()
		<-g.opened
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	s := &SentCommand{Who: g.who, Backend: c.Backend, Command: c, Text: g.names.Normalize(DescribeCommand(c)),
		Background: g.isBackground, At: g.elapsed()}
	c.Private = s
	g.list = append(g.list, s)
	return nil
}

func (g *Gate) After(_ context.Context, c *tap.Command, err error) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	s := c.Private.(*SentCommand)
	s.Took, s.Done, s.Reply = g.elapsed()-s.At, true, g.names.NormalizeReply(c)
	if err != nil {
		s.Result = g.names.Normalize(err.Error())
	}
	return err
}

func (g *Gate) LockGranted(bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.held = append(g.held, HeldPeriod{Who: g.who, From: g.elapsed()})
}

func (g *Gate) LockReleasing() (released func()) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for i := range g.held {
		if h := &g.held[i]; h.Who == g.who && h.To == 0 {
			h.To = g.elapsed()
		}
	}
	return func() {}
}

// Commands returns the commands that the buyer has sent so far, without those of its background goroutines.
func (g *Gate) Commands() []*tap.Command {
	var list []*tap.Command
	sent, _ := g.Snapshot()
	for _, s := range sent {
		if s.Who == g.who && !s.Background {
			list = append(list, s.Command)
		}
	}
	return list
}
