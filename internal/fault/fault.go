// Package fault is what can go wrong for real with the processes of a lab. A
// Fault is a value in one table: its name, what it aims at, how long it lasts, what
// it can matter for, and how it is injected. It says afterwards whether it took
// effect, and whether that could matter.
package fault

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"seckill/internal/backend"
	"seckill/internal/catalog"
	"seckill/internal/fault/point"
	"seckill/internal/lab"
)

// A Name of a fault.
type Name string

// A Fault is one thing that can go wrong.
type Fault struct {
	Name     Name
	Describe string // in one line
	// Question is the column of the guarantee matrix that asks the same: a strategy that holds there must withstand this.
	Question catalog.Question
	Lasts    bool // it has an end of its own, after Aim.For

	place
	harm harm
}

const (
	// A fault at the holder of a lock waits for a purchase that has read the stock
	// and has not committed what it computed.
	PauseHolder Name = "pause_holder"
	// HangHolder: the purchase stands still; its process goes on, and renews
	// leases and sessions.
	HangHolder Name = "hang_holder"
	KillHolder Name = "kill_holder"
	CutHolder  Name = "cut_holder"

	// PauseService: as in a long garbage collection, or when its machine is
	// suspended. Its sockets stay open.
	PauseService Name = "pause_service"
	KillService  Name = "kill_service"

	RestartRedis Name = "restart_redis"
	// RestartMySQL does not test fsync: what the system has in memory survives a
	// kill. Each command that a server had taken, and not answered, is an unknown
	// outcome.
	RestartMySQL Name = "restart_mysql"
	RestartEtcd  Name = "restart_etcd"
	// PauseMySQL: its sockets stay open, and what was sent runs when it goes on.
	PauseMySQL Name = "pause_mysql"
	LockRow    Name = "lock_row_mysql"

	LoseEtcd      Name = "lose_etcd"
	FailoverRedis Name = "failover_redis"
	// LoseMySQL: services are led to another node of the Galera cluster until it is
	// back.
	LoseMySQL Name = "lose_mysql"
)

// All are the faults, in the order in which they are shown.
var All = []Fault{
	{Name: PauseHolder, Question: catalog.LeaseEnd, Lasts: true, place: holder(point.BeforeCommit), harm: pauseHolder,
		Describe: "the process that holds the lock stands still before it commits"},
	{Name: HangHolder, Question: catalog.LeaseEnd, Lasts: true, place: holder(point.BeforeCommit), harm: hang,
		Describe: "the purchase that holds the lock stands still before it commits, while its process goes on"},
	{Name: KillHolder, Question: catalog.DeadHolder, place: holder(point.BeforeWrite), harm: kill,
		Describe: "the process that holds the lock is killed between its read and its write"},
	{Name: CutHolder, Question: catalog.LeaseEnd, Lasts: true, place: holder(point.BeforeCommit), harm: cut,
		Describe: "the process that holds the lock loses its connections"},

	{Name: PauseService, Question: catalog.LeaseEnd, Lasts: true, place: service, harm: pause,
		Describe: "a service process stands still, whatever it is doing"},
	{Name: KillService, Question: catalog.DeadHolder, place: service, harm: kill,
		Describe: "a service process is killed, whatever it is doing"},

	{Name: RestartRedis, Question: catalog.NodeLoss, place: server(backend.NameRedis), harm: restartEmpty,
		Describe: "Redis crashes, and comes back without its data"},
	{Name: "pause_redis", Question: catalog.LeaseEnd, Lasts: true, place: server(backend.NameRedis), harm: pause,
		Describe: "Redis stands still, while leases run out"},
	{Name: "pause_redlock", Question: catalog.NodeLoss, Lasts: true, place: server(quorumNode), harm: pause,
		Describe: "one of the five Redis nodes of a quorum hangs: it takes connections, and answers nothing"},
	{Name: "lose_redlock", Question: catalog.NodeLoss, Lasts: true, place: server(quorumNode), harm: kill,
		Describe: "one of the five Redis nodes of a quorum is killed, and comes back without its data"},
	{Name: RestartMySQL, Question: catalog.LostReply, place: server(backend.NameMySQL), harm: restart,
		Describe: "MySQL is killed, and recovers with its data"},
	{Name: PauseMySQL, Question: catalog.LateCommand, Lasts: true, place: server(backend.NameMySQL), harm: pause,
		Describe: "MySQL stands still"},
	{Name: LockRow, Question: catalog.LateCommand, Lasts: true, place: server(backend.NameMySQL), harm: lockRow,
		Describe: "another session holds the row for longer than statements wait for it"},
	{Name: "restart_zookeeper", Question: catalog.LeaseEnd, place: server(backend.NameZooKeeper), harm: restart,
		Describe: "ZooKeeper is killed, and comes back with its data"},
	{Name: RestartEtcd, Question: catalog.LeaseEnd, place: server(backend.NameEtcd), harm: restart,
		Describe: "etcd is killed, and comes back with its data"},

	// Of the link between one service process and a server: the other processes
	// reach it.
	{Name: "lose_replies_mysql", Question: catalog.LostReply, Lasts: true, place: link(backend.NameMySQL), harm: loseReplies,
		Describe: "MySQL does what a service process asks, and its replies are lost"},
	{Name: "partition_redis", Question: catalog.LeaseEnd, Lasts: true, place: link(backend.NameRedis), harm: partition,
		Describe: "nothing passes between a service process and Redis; what was sent arrives in the end"},
	{Name: "lose_replies_redis", Question: catalog.LostReply, Lasts: true, place: link(backend.NameRedis), harm: loseReplies,
		Describe: "Redis does what a service process asks, and its replies are lost"},
	{Name: "partition_zookeeper", Question: catalog.LeaseEnd, Lasts: true, place: link(backend.NameZooKeeper), harm: partition,
		Describe: "nothing passes between a service process and ZooKeeper; what was sent arrives in the end"},
	{Name: "partition_etcd", Question: catalog.LeaseEnd, Lasts: true, place: link(backend.NameEtcd), harm: partition,
		Describe: "nothing passes between a service process and etcd; what was sent arrives in the end"},

	// Of one of several servers. What most of those that vote acknowledged, most of
	// them have; the other two elect another leader.
	{Name: "lose_zookeeper", Question: catalog.NodeLoss, Lasts: true, place: leader(backend.NameZooKeeper, lab.Ensembles), harm: lose,
		Describe: "one of three ZooKeeper servers is killed, the leader"},
	{Name: LoseEtcd, Question: catalog.NodeLoss, Lasts: true, place: leader(backend.NameEtcd, lab.Ensembles), harm: lose,
		Describe: "one of three etcd servers is killed, the leader"},
	{Name: FailoverRedis, Question: catalog.NodeLoss, Lasts: true, place: leader(backend.NameRedis, lab.Sentinel), harm: failover,
		Describe: "replication to Redis' replicas stops, then the primary dies and one of them takes over without the last writes"},
	// Of several Redis among which clients divide the keys. Sales whose keys are
	// elsewhere go on.
	{Name: "lose_shard", Question: catalog.NodeLoss, Lasts: true, place: leader(backend.NameRedis, lab.Ring), harm: kill,
		Describe: "the shard of Redis that has the sale's keys is killed, and comes back without its data"},
	{Name: LoseMySQL, Question: catalog.LostReply, Lasts: true, place: leader(backend.NameMySQL, lab.Galera), harm: lose,
		Describe: "one of three nodes of the database is killed, at which buyers write"},
}

// Find finds a fault by its name.
func Find(name Name) (Fault, error) {
	i := slices.IndexFunc(All, func(f Fault) bool { return f.Name == name })
	if i < 0 {
		return Fault{}, fmt.Errorf("there is no fault called %q: seckill chaos --list has their names", name)
	}
	return All[i], nil
}

// An Aim says what a fault is to hit.
type Aim struct {
	Service  int           // the number of a process, from 1
	Strategy string        // of the sale that is on,
	SKU      int64         // and what it sells
	For      time.Duration // how long it lasts, of faults with an end of their own
	// Busy waits a moment for a purchase to be under way where the fault will happen:
	// without one it could not matter.
	Busy bool
}

// A Lab is one in which things go wrong.
type Lab struct{ *lab.Lab }

// In is for faults of a lab.
func In(l *lab.Lab) Lab { return Lab{l} }

// A Status says whether a fault can be injected here, and what it is like.
type Status struct {
	Kind      Name               `json:"kind"`
	Available bool               `json:"available"`
	Missing   string             `json:"missing"`        // why not, in English,
	Lack      *Lack              `json:"lack,omitempty"` // and by a code
	Holder    bool               `json:"holder"`         // it waits for the holder of a lock
	Service   bool               `json:"service"`        // it hits the service process that is named
	Lasts     bool               `json:"lasts"`          // it ends by itself
	Uses      backend.Capability `json:"uses,omitempty"` // it matters only where this backend is used
	// Question is the column of the guarantee matrix that asks the same, if one does.
	Question catalog.Question `json:"question,omitempty"`
}

// Faults are all faults, also those that are not available here.
func (l Lab) Faults() (list []Status) {
	for _, f := range All {
		s := Status{Kind: f.Name, Available: true, Holder: f.Holder, Service: !f.Holder && !f.Everywhere, Lasts: f.Lasts, Uses: f.Uses, Question: f.Question}
		if s.Lack = f.missing(l.Lab); s.Lack != nil {
			s.Available, s.Missing = false, s.Lack.Text
		}
		list = append(list, s)
	}
	return list
}

// Inject makes it go wrong in real processes, and returns when it has. Faults may
// overlap; those of one process are sequential. A fault at a holder waits for one,
// until ctx ends or the stock is gone: that is no error, and the Effect says so.
func (l Lab) Inject(ctx context.Context, name Name, a Aim) (*Injection, error) {
	f, err := Find(name)
	if err != nil {
		return nil, err
	}
	if why := f.missing(l.Lab); why != nil {
		return nil, fmt.Errorf("%s is not to be had here: %s", f.Name, why.Text)
	}
	s := &scene{lab: l.Lab, aim: a}
	if err := f.find(ctx, s); err != nil {
		return nil, err
	}
	if s.process == nil {
		return &Injection{Effect: s.seen}, nil
	}
	defer s.process.Harm.Unlock()
	if f.Holder { // half a fault at a purchase that is held could not be undone
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(context.WithoutCancel(ctx), harming)
		defer cancel()
	} else {
		number := a.Service
		if f.Everywhere {
			number = 0
		}
		s.seen = s.busy(ctx, number)
	}
	i, err := f.harm(ctx, s)
	if f.Holder && (err != nil || !f.Lasts) {
		s.letGo()
	}
	return i, err
}

// harming bounds what is done once a purchase is caught.
const harming = 20 * time.Second

// An Injection is a fault that was injected, or that waited in vain.
type Injection struct {
	Effect Effect
	// Undo ends what lasts of it, once, and may change the effect; nil: nothing lasts. It
	// is no error when that is over already.
	Undo func(context.Context, *Effect) error
}

// An Effect is what became of a fault.
type Effect struct {
	// Took: it happened, and was seen to: the process stood still, was gone, the
	// data was lost, the session was another.
	Took bool `json:"took_effect"`
	// Matters: it happened while units were left and a purchase was under way
	// where it happened. Where that could not be found out, it is taken to.
	Matters bool `json:"could_matter"`
	// Why it took no effect, or could not matter; "" if it did and could.
	Why Why `json:"why,omitempty"`

	Service  int           `json:"service,omitempty"`    // which process, from 1; 0: a server
	Left     *int64        `json:"units_left,omitempty"` // just before
	InFlight *int64        `json:"in_flight,omitempty"`  // purchases in that process, just before
	Stood    int           `json:"stood_ms,omitempty"`   // how long it, or the purchase, stood still
	Holder   *point.Holder `json:"holder,omitempty"`     // the purchase that was caught
	At       point.Name    `json:"point,omitempty"`      // and where
}

// A Why says why a fault could do nothing.
type Why string

const (
	NoUnits    Why = "no_units"    // the stock was gone
	Idle       Why = "idle"        // the process had no purchase under way
	NoPoint    Why = "no_point"    // the strategy does not read before it writes
	NotReached Why = "not_reached" // no purchase reached the point
	WentOn     Why = "went_on"     // it ended before it should have
	DataKept   Why = "data_kept"   // the server came back with its data
	// NothingPassed: nothing was sent over the link, or there was no reply to lose.
	NothingPassed Why = "nothing_passed"
	NotMet        Why = "not_met" // the server let no command wait
)

// weigh decides whether it could matter, from what was seen just before.
func (e *Effect) weigh() {
	switch {
	case !e.Took:
		e.Matters = false
	case e.Left != nil && *e.Left <= 0 && e.Holder == nil:
		e.Matters, e.Why = false, NoUnits
	case e.InFlight != nil && *e.InFlight == 0 && e.Holder == nil:
		e.Matters, e.Why = false, Idle
	default:
		e.Matters = true
	}
}

// void: it took no effect after all.
func (e *Effect) void(why Why) { e.Took, e.Matters, e.Why = false, false, why }

// busy looks again while no purchase is under way and units are left, if the aim
// says so.
func (s *scene) busy(ctx context.Context, number int) (seen Effect) {
	_ = lab.Await(ctx, looking, func(context.Context) error { // a look has its own limit: the last one is not cut off
		seen = s.look(ctx, number)
		if !s.aim.Busy || seen.InFlight == nil || *seen.InFlight > 0 || seen.Left != nil && *seen.Left <= 0 {
			return nil
		}
		return errors.New("no purchase is under way")
	})
	return seen
}

// look is what the service process of this number, or all for 0, says just before
// something comes to harm; what it does not say is not known.
func (s *scene) look(ctx context.Context, number int) Effect {
	ctx, cancel := context.WithTimeout(ctx, looking)
	defer cancel()
	e := Effect{Service: number}
	for i, p := range s.lab.ServiceProcesses() {
		if number > 0 && number != i+1 || !p.Alive() || p.Paused() {
			continue
		}
		said, err := s.points(p).State(ctx, s.aim.Strategy, s.aim.SKU)
		if err != nil {
			return Effect{Service: number}
		}
		if e.InFlight == nil {
			e.InFlight = new(int64)
		}
		*e.InFlight += said.InFlight
		e.Left = said.Left
	}
	return e
}

// looking bounds how long a fault waits to hear what is left.
const looking = time.Second

// A Lack is why a fault cannot be had here: a code with what it is about, for
// those who have sentences of their own, and one in English.
type Lack struct {
	Code   string         `json:"code"`
	Params map[string]any `json:"params,omitempty"`
	Text   string         `json:"-"`
}

// Codes of Lacks.
const (
	LackServer   = "no_server"      // name: it is not one server of the lab's own
	LackGiven    = "given_server"   // name: it runs by itself
	LackLink     = "no_link"        // name: services reach it directly
	LackTopology = "other_topology" // name, topology: it is one server here
)
