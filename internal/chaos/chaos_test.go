package chaos

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"seckill/internal/backend"
	"seckill/internal/catalog"
	"seckill/internal/fault"
	"seckill/internal/judge"
	"seckill/internal/lab"
	"seckill/internal/lab/labtest"
	"seckill/loadtest"
)

// A paperLab records faults and injects none.
type paperLab struct {
	effect fault.Effect
	fails  error // the error of every injection
	serves error
	came   chan struct{} // receives a value at each injection
}

func (l *paperLab) Inject(_ context.Context, name fault.Name, a fault.Aim) (*fault.Injection, error) {
	defer func() { l.came <- struct{}{} }()
	if a.SKU != 1 || a.Strategy == "" || a.Service != 1 && name == fault.KillService {
		return nil, errors.New("the aim is wrong")
	}
	return &fault.Injection{Effect: l.effect}, l.fails
}

func (l *paperLab) Faults() []fault.Status {
	return []fault.Status{{Kind: fault.KillService, Available: true}, {Kind: fault.RestartMySQL, Available: true},
		{Kind: "restart_redis", Available: true, Uses: "Redis"}, {Kind: "pause_mysql", Missing: "it is embedded"}}
}
func (l *paperLab) Serve(context.Context, lab.ServiceSettings) error {
	return l.serves
}

var (
	sound  = catalog.Info{Name: "sound", Guarantees: catalog.Sound.Holds(catalog.DeadHolder, catalog.LostReply)}
	broken = catalog.Info{Name: "broken", Guarantees: catalog.Unsound, Needs: []backend.Capability{backend.Redis}}
)

// vague may answer "sold out" too early.
var vague = catalog.Info{Name: "vague", Guarantees: sound.Guarantees.Breaks(catalog.SoldOut)}

// mortal breaks when the holder of its lock dies.
var mortal = catalog.Info{Name: "mortal", Guarantees: sound.Guarantees.Breaks(catalog.DeadHolder)}

// wrongAnswers returns a sale in which buyers got wrong answers, although its orders and stock agree.
func wrongAnswers() *loadtest.Result { return sale(judge.Lost, 600, 600, judge.RuleNotLinearizable) }

// sale returns the result of one part of a sale.
func sale(verdict judge.Verdict, sold int, units int64, rules ...string) *loadtest.Result {
	r := &loadtest.Result{Verdict: verdict, Counts: map[judge.Outcome]int{judge.OutcomeSold: sold},
		Audit: &judge.Report{Verdict: verdict, Initial: 720, Totals: judge.Totals{Sold: units}}}
	for _, rule := range rules {
		r.Audit.Violations = append(r.Audit.Violations, judge.Violation{Rule: rule, Message: rule + " was broken"})
	}
	return r
}

// options returns options whose load returns the given parts, one after the other.
func options(l *paperLab, parts ...*loadtest.Result) Options {
	o := Options{Lab: l, Strategies: []catalog.Info{sound}, Faults: []fault.Name{fault.KillService}, Settings: Default}
	l.came = make(chan struct{}, 9)
	o.load = func(ctx context.Context, c loadtest.Config) (*loadtest.Result, error) {
		if len(parts) == 0 {
			return nil, errors.New("one part too many")
		}
		part := parts[0]
		parts = parts[1:]
		if c.Begin != nil {
			c.Begin()
		}
		if c.Joins && c.Seed == o.scenario(c.Strategy, o.Faults[0]).Seed {
			return nil, errors.New("the buyers of the first part come again")
		}
		if control := c.Seed == o.scenario(c.Strategy, None).Seed; !control && !c.Joins {
			<-l.came
		}
		c.OnProgress(loadtest.Progress{Counts: part.Counts})
		return part, nil
	}
	return o
}

// runParts runs the cells in fake time. The parts of the sales have the given results.
func runParts(t *testing.T, l *paperLab, change func(*Options), parts ...*loadtest.Result) (r *Result) {
	synctest.Test(t, func(t *testing.T) {
		o := options(l, parts...)
		if change != nil {
			change(&o)
		}
		r = Run(t.Context(), o)
	})
	return r
}

func TestCells(t *testing.T) {
	took := paperLab{effect: fault.Effect{TookEffect: true, CouldMatter: true}}
	idle := paperLab{effect: fault.Effect{TookEffect: true, Why: fault.Idle}}
	parts := func(all ...*loadtest.Result) []*loadtest.Result { return all }
	held := func() *loadtest.Result { return sale(judge.Held, 600, 600) }
	stopped := sale(judge.NotValid, 0, 600)
	stopped.Interrupted = true
	stalled := sale(judge.NotValid, 1, 601)
	stalled.Interrupted, stalled.Problems = true, []loadtest.Problem{{Text: "interrupted"}}
	stalled.Audit.Served = &judge.Served{State: judge.ServedBlocked}
	early := sale(judge.NotValid, 50, 650)
	early.Interrupted, early.Problems = true, []loadtest.Problem{{Text: "interrupted"}, {Text: "read too early"}}
	for name, c := range map[string]struct {
		lab    paperLab
		parts  []*loadtest.Result
		change func(*Options)
		word   string
		wrong  bool
		exit   int
	}{
		"held": {took, parts(held(), sale(judge.Held, 120, 720)),
			nil, "held", false, loadtest.ExitHeld},
		"oversold in the first part": {took, parts(sale(judge.Oversold, 800, 800), held()),
			nil, "oversold", true, loadtest.ExitOversold},
		"oversold, and then no sale was run": {took, parts(sale(judge.Oversold, 800, 800)),
			nil, "oversold", true, loadtest.ExitOversold},
		"no sale could be run afterwards": {took, parts(held()),
			nil, "proves nothing", false, loadtest.ExitNotValid},
		"oversold in the second": {took, parts(held(), sale(judge.Oversold, 300, 900)),
			nil, "oversold", true, loadtest.ExitOversold},
		"lost": {took, parts(sale(judge.Lost, 600, 500, "lost"), held()),
			nil, "lost", true, loadtest.ExitLost},
		"lost, as it is known to be": {took, parts(sale(judge.Lost, 600, 500), held()),
			func(o *Options) { o.Strategies = []catalog.Info{mortal} }, "lost", false, loadtest.ExitHeld},
		"wrong answers": {took, parts(wrongAnswers(), held()), nil, "lost", true, loadtest.ExitLost},
		"wrong answers, not promised": {took, parts(wrongAnswers(), held()),
			func(o *Options) { o.Strategies = []catalog.Info{vague} }, "lost", false, loadtest.ExitHeld},
		"lost, and wrong answers": {took, parts(sale(judge.Lost, 600, 500, "lost", judge.RuleNotLinearizable), held()),
			func(o *Options) { o.Strategies = []catalog.Info{vague} }, "lost", true, loadtest.ExitLost},
		"blocked": {took, parts(sale(loadtest.Blocked, 100, 100), held()),
			nil, "blocked", true, loadtest.ExitBlocked},
		"nothing is sold afterwards": {took, parts(held(), stopped), nil, "stopped", true, loadtest.ExitBlocked},
		"one sale, and no more":      {took, parts(held(), stalled), nil, "blocked", true, loadtest.ExitBlocked},
		"cut off, and read early": {took, parts(held(), early),
			nil, "proves nothing", false, loadtest.ExitNotValid},
		"nothing is left to sell": {took, parts(sale(judge.Held, 720, 720), sale(judge.Held, 0, 720)),
			nil, "held", false, loadtest.ExitHeld},
		"without effect": {paperLab{}, parts(held(), held()),
			nil, "not tested", false, loadtest.ExitNotValid},
		"could not matter": {idle, parts(held(), held()), nil, "not tested", false, loadtest.ExitNotValid},
		"without effect, and broken": {paperLab{}, parts(sale(judge.Oversold, 800, 800), held()),
			nil, "oversold", true, loadtest.ExitOversold},
		"the fault fails": {paperLab{fails: errors.New("no")}, parts(held(), held()),
			nil, "not tested", false, loadtest.ExitNotValid},
		"no services": {paperLab{serves: errors.New("no")}, nil, nil, "proves nothing", false, loadtest.ExitNotValid},
		"no load":     {took, nil, nil, "proves nothing", false, loadtest.ExitNotValid},
		"a first part that proves nothing": {took, parts(sale(judge.NotValid, 0, 0), held()), nil,
			"proves nothing", false, loadtest.ExitNotValid},
		"not available here": {paperLab{}, nil, func(o *Options) { o.Faults = []fault.Name{"pause_mysql"} }, "", false, loadtest.ExitNotValid},
		"not its server":     {paperLab{}, nil, func(o *Options) { o.Faults = []fault.Name{"restart_redis"} }, "", false, loadtest.ExitNotValid},
		"not its servers": {paperLab{}, nil, func(o *Options) {
			o.Strategies = []catalog.Info{{Name: "quorum", Needs: []backend.Capability{backend.RedisQuorum}}}
			o.Faults = []fault.Name{"restart_redis"}
		}, "", false, loadtest.ExitNotValid},
		"a broken one, caught": {took, parts(sale(judge.Oversold, 800, 800), held()),
			func(o *Options) { o.Strategies = []catalog.Info{broken} }, "oversold", false, loadtest.ExitHeld},
		"the control run": {paperLab{}, parts(held(), sale(judge.Held, 120, 720)),
			func(o *Options) { o.Faults = []fault.Name{None} }, "held", false, loadtest.ExitHeld},
	} {
		t.Run(name, func(t *testing.T) {
			r := runParts(t, &c.lab, c.change, c.parts...)
			if cell := r.Rows[0].Cells[0]; cell.Word != c.word || cell.Wrong != c.wrong || r.ExitStatus() != c.exit {
				t.Errorf("%q, wrong %t, exit status %d; want %q, %t, %d: %+v",
					cell.Word, cell.Wrong, r.ExitStatus(), c.word, c.wrong, c.exit, cell)
			} else if strings.Contains(cell.Said, "promises to withstand") != c.wrong {
				t.Errorf("wrong %t, and it says %q", c.wrong, cell.Said)
			}
			if found := r.Report().Tables[1].Rows; (len(found) == 1) != (c.wrong || c.word == wordNotValid) {
				t.Errorf("what went wrong: %q", found)
			}
		})
	}
}

// If no buyer came, the stock was not set, and the second part is left out.
func TestNoSecondPart(t *testing.T) {
	o := options(&paperLab{effect: fault.Effect{TookEffect: true, CouldMatter: true}})
	asked := 0
	o.load = func(context.Context, loadtest.Config) (*loadtest.Result, error) {
		asked++
		r := sale(judge.NotValid, 0, 0)
		r.Problems = []loadtest.Problem{{Text: "the sale could not be reset"}}
		return r, nil
	}
	r := Run(t.Context(), o)
	c := r.Rows[0].Cells[0]
	labtest.Same(t, r.Repeat, "seckill chaos --strategies STRATEGY --faults FAULT --seed 0 --rate 200 "+
		"--topology single", "it is repeated by")
	if asked != 1 || c.Word != wordNotValid || c.Tested() || !strings.Contains(c.Said, "could not be reset") {
		t.Errorf("%d parts, and %+v", asked, c)
	}
}

// A cell whose strategy did not hold has the course of the sale, and the begin and the end of the
// fault. A cell whose strategy held has neither.
func TestCourseOfACell(t *testing.T) {
	for _, verdict := range []judge.Verdict{judge.Held, judge.Lost} {
		c := (&trial{Cell: Cell{Stood: 1.3, Course: [][3]int{{1, 3, 0}}}, verdict: verdict,
			happened: &fault.Happening{Planned: fault.Planned{At: 510}, Until: 2130,
				Effect: &fault.Effect{TookEffect: true, CouldMatter: true}}}).newCell(false)
		lost := verdict == judge.Lost
		if c.Word != string(verdict) || c.Stood != 1.3 || slices.Equal(c.Fault, []int{5, 21}) != lost || (len(c.Course) == 1) != lost {
			t.Errorf("%s: %+v", verdict, c)
		}
	}
}

// The number of units left may be unreadable only after a fault that emptied the server with the
// stock. The sale then stops.
func TestStockIsGone(t *testing.T) {
	for name, want := range map[fault.Name]string{"restart_redis": "stopped", fault.KillService: wordNotValid} {
		l := &paperLab{effect: fault.Effect{TookEffect: true, CouldMatter: true}}
		c := runParts(t, l, func(o *Options) {
			o.Faults, o.Strategies[0].Needs = []fault.Name{name}, []backend.Capability{backend.Redis}
		}, sale(judge.NotValid, 31, 31, judge.RuleUnknownStore),
			sale(judge.NotValid, 0, 31, judge.RuleUnknownStore)).Rows[0].Cells[0]
		if c.Word != want || want == "stopped" && !strings.Contains(c.Said, "unknown_stock was broken") {
			t.Errorf("%s: %s (%s), want %s", name, c.Word, c.Said, want)
		}
	}
}

// The number in Redis may differ from the row only after a fault that empties Redis, and only until the second
// part has corrected the number.
func TestTheNumberIsCorrected(t *testing.T) {
	for _, try := range []struct {
		fault  fault.Name
		second judge.Verdict
		want   string
	}{
		{"restart_redis", judge.Held, "held"},
		{"restart_redis", judge.Lost, "lost"},
		{fault.KillService, judge.Held, "lost"},
	} {
		l := &paperLab{effect: fault.Effect{TookEffect: true, CouldMatter: true}}
		second := sale(try.second, 31, 62)
		if try.second == judge.Lost {
			second = sale(try.second, 31, 62, judge.RuleCounterDisagrees)
		}
		c := runParts(t, l, func(o *Options) {
			o.Faults, o.Strategies[0].Needs = []fault.Name{try.fault}, []backend.Capability{backend.Redis}
		}, sale(judge.Lost, 31, 31, judge.RuleCounterDisagrees), second).Rows[0].Cells[0]
		labtest.Same(t, c.Word, try.want, "%s, and %s afterwards (%s)", try.fault, try.second, c.Said)
	}
}
