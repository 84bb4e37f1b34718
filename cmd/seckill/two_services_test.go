package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"gorm.io/gorm"

	"seckill/internal/backend"
	"seckill/internal/lab"
	"seckill/internal/lab/labtest"
	"seckill/internal/ledger"
	"seckill/loadtest"
)

// trouble causes the faults of two service processes in the middle of a sale.
type trouble struct {
	t         *testing.T
	random    *rand.Rand
	processes []*lab.Process
	nodes     []*gorm.DB // connections to the database, one for each of its nodes
	// restartDatabase kills the database, or one of its nodes, and starts it again. It is nil if
	// the database was given, because then tests must not stop it.
	restartDatabase func(context.Context) error
}

// Two service processes sell while buyers send copies and repeat calls. The test kills and pauses processes, ends their
// sessions, and restarts the database. Whatever was under way, each key must have one final answer, and the ledger must
// agree with the answers. The test makes one sale in make test, and sells for ten minutes in make verify.
func TestTwoServicesInTrouble(t *testing.T) {
	l, urls, processes := services(t, "--purchase-timeout=3s")
	in := newTrouble(t, processes)
	in.nodes = []*gorm.DB{labtest.Instance(t, backend.SQL).DB}
	if os.Getenv("SECKILL_TEST_MYSQL_DSN") == "" {
		mysql := labtest.Value(l.Process(backend.NameMySQL)).Must(t)
		in.restartDatabase = func(ctx context.Context) error { return errors.Join(mysql.Kill(ctx), mysql.Restart(ctx)) }
	}
	period := time.Duration(0)
	if labtest.Verify {
		period = 10 * time.Minute
	}
	in.sellFor(period, loadtest.Config{Targets: urls,
		Scenario: loadtest.Scenario{Stock: 500, Rate: 200, Duration: 5 * time.Second}}, sellers)
}

var sellers = []string{"conditional", "merged", "one-trip", "order-first"}

func newTrouble(t *testing.T, processes []*lab.Process) *trouble {
	seed, err := strconv.ParseUint(os.Getenv("SECKILL_TEST_SEED"), 10, 64)
	if err != nil {
		seed = rand.Uint64()
	}
	t.Logf("to repeat what happened, and in which order: SECKILL_TEST_SEED=%d", seed)
	return &trouble{t: t, random: rand.New(rand.NewPCG(seed, 0)), processes: processes}
}

// sellFor repeats the sale for the given time, at least once, each time with one of the strategies.
// Then it makes a sale without faults.
func (in *trouble) sellFor(period time.Duration, c loadtest.Config, strategies []string) {
	t := in.t
	c.Ledger = ledger.NewStore(in.nodes[0])
	calm := c
	c.Profile, c.Copies, c.Retry, c.Duplicates, c.Cancellations = loadtest.Constant, 0.5, 6, 0.05, 0.05
	for sale, end := 0, time.Now().Add(period); sale == 0 || time.Now().Before(end); sale++ {
		c.Strategy = strategies[in.random.IntN(len(strategies))]
		t.Run(fmt.Sprintf("%d %s", sale, c.Strategy), func(t *testing.T) {
			in.t = t
			in.sell(c)
		})
		if t.Failed() {
			return
		}
	}
	calm.Scenario = loadtest.Scenario{Strategy: "conditional", Stock: 50, Buyers: 200}
	if r := loadRun(t, calm); r.ExitStatus() != loadtest.ExitHeld {
		t.Errorf("when all is well again, a sale says %s: %v %v", r.Verdict, r.Problems, r.Counts)
	}
}

// sell makes a sale with a fault every half second. Each kind of fault happens at least once.
func (in *trouble) sell(c loadtest.Config) {
	over, gone := make(chan struct{}), make(chan struct{})
	c.Begin = func() {
		go func() {
			defer close(gone)
			things := []func(*lab.Process){in.kill, in.pause, in.endSessions, in.restart}
			in.random.Shuffle(len(things), func(i, j int) { things[i], things[j] = things[j], things[i] })
			for _, do := range append(things, in.endSessions, in.kill) {
				select {
				case <-over:
					return
				case <-time.After(time.Second / 2): // the sale goes on between two faults
				}
				do(in.processes[in.random.IntN(len(in.processes))])
			}
		}()
	}
	r := loadRun(in.t, c)
	close(over)
	<-gone
	if r.Audit == nil {
		in.t.Fatalf("the ledger was not read: %v", r.Problems)
	}
	for _, v := range r.Audit.Violations {
		in.t.Errorf("%s: %s %v", v.Rule, v.Message, v.Examples)
	}
	if !r.Settled {
		in.t.Errorf("purchases were still running at the end: %v", r.Problems)
	}
	for _, a := range r.Answers {
		if strings.Contains(a.Code, "internal") {
			in.t.Errorf("%d buyers were told %s: %s", a.Count, a.Code, a.Sample)
		}
	}
	in.t.Logf("%s: %d sold, %d copies, %d retries, by request %v", r.Verdict, r.Audit.Sold, r.Copies, r.Retries,
		r.Counts)
	if r.Copies == 0 || r.Retries == 0 || r.Audit.Sold == 0 {
		in.t.Error("nothing is tested")
	}
}

func (in *trouble) must(what string, err error) {
	labtest.Check(in.t, err, nil, "%s", what)
}

func (in *trouble) kill(p *lab.Process) {
	in.must("kill -9", p.Kill(context.Background()))
	in.must("start again", p.Restart(context.Background()))
}

// pause stops a process with SIGSTOP, sometimes for longer than a purchase may take.
func (in *trouble) pause(p *lab.Process) {
	in.must("SIGSTOP", p.Pause())
	time.Sleep(time.Duration(200+in.random.IntN(3500)) * time.Millisecond) // the length of the pause
	in.must("SIGCONT", p.Resume())
}

// endSessions lets the database end about half of its sessions. Some of them hold a lock or a row.
func (in *trouble) endSessions(*lab.Process) {
	db, sessions := in.nodes[in.random.IntN(len(in.nodes))], []int64{}
	in.must("list the sessions", db.Raw("SELECT id FROM information_schema.processlist WHERE id <> CONNECTION_ID() "+
		"AND db = DATABASE() AND command <> 'Daemon' AND user <> 'system user'").Scan(&sessions).Error)
	for _, id := range sessions {
		if in.random.IntN(2) == 0 {
			_ = db.Exec("KILL CONNECTION ?", id).Error // fails if the session has ended already
		}
	}
}

func (in *trouble) restart(*lab.Process) {
	if in.restartDatabase != nil {
		in.must("kill the database, and start it again", in.restartDatabase(context.Background()))
	}
}
