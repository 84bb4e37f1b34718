// Package fault injects real faults into the processes of a lab. Each fault is one row of the table All:
// its name, its target, how long it lasts, and the harm that is done. After an injection, an Effect says
// whether the fault happened and whether it could matter.
package fault

import (
	"context"
	"fmt"
	"slices"
	"time"

	"seckill/internal/backend"
	"seckill/internal/catalog"
	"seckill/internal/lab"
	"seckill/internal/point"
)

// A Name identifies a fault.
type Name string

// A Fault is one thing that can go wrong.
type Fault struct {
	Name     Name
	Describe string // in one line
	// Question is the column of the guarantee matrix that asks about this kind of fault. A strategy
	// that holds in that column must withstand the fault.
	Question catalog.Question
	Lasts    bool // the fault ends by itself after the duration Aim.For

	target target
	harm   harm
}

// These are the names of faults to which other packages refer.
const (
	KillService  Name = "kill_service"
	RestartMySQL Name = "restart_mysql"
)

// All lists the faults in the order in which pages and tables show them.
var All = []Fault{
	// Faults at the holder of a lock wait for a purchase that has read the stock and has not yet committed.
	{Name: "pause_holder", Question: catalog.LeaseEnd, Lasts: true,
		target: holderAt(point.BeforeCommit), harm: pauseHolderProcess,
		Describe: "the process that holds the lock stands still before it commits"},
	{Name: "hang_holder", Question: catalog.LeaseEnd, Lasts: true,
		target: holderAt(point.BeforeCommit), harm: hangPurchase,
		Describe: "the purchase that holds the lock stands still before it commits, while its process goes on"},
	{Name: "kill_holder", Question: catalog.DeadHolder, target: holderAt(point.BeforeWrite), harm: killProcess,
		Describe: "the process that holds the lock is killed between its read and its write"},
	{Name: "cut_holder", Question: catalog.LeaseEnd, Lasts: true,
		target: holderAt(point.BeforeCommit), harm: cutConnections,
		Describe: "the process that holds the lock loses its connections"},

	// The sockets of a paused process stay open, as in a long garbage collection or while its machine is suspended.
	{Name: "pause_service", Question: catalog.LeaseEnd, Lasts: true, target: aimedProcess, harm: pauseProcess,
		Describe: "a service process stands still, whatever it is doing"},
	{Name: KillService, Question: catalog.DeadHolder, target: aimedProcess, harm: killProcess,
		Describe: "a service process is killed, whatever it is doing"},

	{Name: "restart_redis", Question: catalog.NodeLoss, target: serverOf(backend.NameRedis), harm: restartEmptyRedis,
		Describe: "Redis crashes, and comes back without its data"},
	{Name: "pause_redis", Question: catalog.LeaseEnd, Lasts: true,
		target: serverOf(backend.NameRedis), harm: pauseProcess,
		Describe: "Redis stands still, while leases run out"},
	{Name: "pause_redlock", Question: catalog.NodeLoss, Lasts: true, target: serverOf(quorumNode), harm: pauseProcess,
		Describe: "one of the five Redis nodes of a quorum hangs: it takes connections, and answers nothing"},
	{Name: "lose_redlock", Question: catalog.NodeLoss, Lasts: true, target: serverOf(quorumNode), harm: killProcess,
		Describe: "one of the five Redis nodes of a quorum is killed, and comes back without its data"},
	// This fault does not test fsync, because the operating system keeps its buffers when a process is killed. A command
	// that MySQL had received and not answered has an unknown outcome.
	{Name: RestartMySQL, Question: catalog.LostReply, target: serverOf(backend.NameMySQL), harm: restartServer,
		Describe: "MySQL is killed, and recovers with its data"},
	// After the pause, MySQL executes the commands that arrived during the pause.
	{Name: "pause_mysql", Question: catalog.LateCommand, Lasts: true,
		target: serverOf(backend.NameMySQL), harm: pauseProcess,
		Describe: "MySQL stands still"},
	{Name: "lock_row_mysql", Question: catalog.LateCommand, Lasts: true,
		target: serverOf(backend.NameMySQL), harm: lockStockRow,
		Describe: "another session holds the row for longer than statements wait for it"},
	{Name: "restart_zookeeper", Question: catalog.LeaseEnd,
		target: serverOf(backend.NameZooKeeper), harm: restartServer,
		Describe: "ZooKeeper is killed, and comes back with its data"},
	{Name: "restart_etcd", Question: catalog.LeaseEnd, target: serverOf(backend.NameEtcd), harm: restartServer,
		Describe: "etcd is killed, and comes back with its data"},

	// These faults hit the link between one service process and a server. The other processes still reach the server.
	{Name: "lose_replies_mysql", Question: catalog.LostReply, Lasts: true,
		target: linkTo(backend.NameMySQL), harm: loseReplies,
		Describe: "MySQL does what a service process asks, and its replies are lost"},
	{Name: "partition_redis", Question: catalog.LeaseEnd, Lasts: true,
		target: linkTo(backend.NameRedis), harm: partitionLink,
		Describe: "nothing passes between a service process and Redis; what was sent arrives in the end"},
	{Name: "lose_replies_redis", Question: catalog.LostReply, Lasts: true,
		target: linkTo(backend.NameRedis), harm: loseReplies,
		Describe: "Redis does what a service process asks, and its replies are lost"},
	{Name: "partition_zookeeper", Question: catalog.LeaseEnd, Lasts: true,
		target: linkTo(backend.NameZooKeeper), harm: partitionLink,
		Describe: "nothing passes between a service process and ZooKeeper; what was sent arrives in the end"},
	{Name: "partition_etcd", Question: catalog.LeaseEnd, Lasts: true,
		target: linkTo(backend.NameEtcd), harm: partitionLink,
		Describe: "nothing passes between a service process and etcd; what was sent arrives in the end"},

	// These faults hit one of several servers of a backend. With three servers, a write that the majority
	// acknowledged survives, because the two remaining servers elect a leader that has this write.
	{Name: "lose_zookeeper", Question: catalog.NodeLoss, Lasts: true,
		target: leaderOf(backend.NameZooKeeper, lab.Ensembles), harm: loseLeader,
		Describe: "one of three ZooKeeper servers is killed, the leader"},
	{Name: "lose_etcd", Question: catalog.NodeLoss, Lasts: true,
		target: leaderOf(backend.NameEtcd, lab.Ensembles), harm: loseLeader,
		Describe: "one of three etcd servers is killed, the leader"},
	{Name: "failover_redis", Question: catalog.NodeLoss, Lasts: true,
		target: leaderOf(backend.NameRedis, lab.Sentinel), harm: failOverRedis,
		Describe: "replication to Redis' replicas stops, " +
			"then the primary dies and one of them takes over without the last writes"},
	// Clients divide their keys among the shards of a ring. Sales go on if their keys are on other shards.
	{Name: "lose_shard", Question: catalog.NodeLoss, Lasts: true,
		target: leaderOf(backend.NameRedis, lab.Ring), harm: killProcess,
		Describe: "the shard of Redis that has the sale's keys is killed, and comes back without its data"},
	// Services use another node of the Galera cluster until the killed one is back.
	{Name: "lose_mysql", Question: catalog.LostReply, Lasts: true,
		target: leaderOf(backend.NameMySQL, lab.Galera), harm: loseLeader,
		Describe: "one of three nodes of the database is killed, at which buyers write"},
}

// Find returns the fault with the given name.
func Find(name Name) (Fault, error) {
	i := slices.IndexFunc(All, func(f Fault) bool { return f.Name == name })
	if i < 0 {
		return Fault{}, fmt.Errorf("no fault is called %q; seckill chaos --list prints their names", name)
	}
	return All[i], nil
}

// AtHolder reports whether the fault waits for a purchase that holds a lock.
func (f Fault) AtHolder() bool { return f.target.kind == purchaseTarget }

// hitsAllServices reports whether the fault hits a server that every service process uses.
func (f Fault) hitsAllServices() bool {
	return f.target.kind == serverTarget || f.target.kind == leaderTarget
}

// An Aim selects the sale and the process that a fault hits.
type Aim struct {
	Service  int           // the number of a service process, from 1
	Strategy string        // the strategy of the current sale
	SKU      int64         // the SKU of the current sale
	For      time.Duration // the duration of a fault that ends by itself
}

// A Lab injects faults into the processes of a lab.
type Lab struct{ *lab.Lab }

// A Status describes a fault, and whether a lab can inject it.
type Status struct {
	Kind      Name               `json:"kind"`
	Available bool               `json:"available"`
	Missing   string             `json:"missing"`        // the reason why the fault is not available, in English
	Lack      *Lack              `json:"lack,omitempty"` // the reason in Missing as a code
	Holder    bool               `json:"holder"`         // true if the fault waits until a buyer holds a lock
	Service   bool               `json:"service"`        // true if the fault hits the service process Aim.Service
	Lasts     bool               `json:"lasts"`          // true if the fault ends by itself
	Uses      backend.Capability `json:"uses,omitempty"` // only strategies that use this backend can notice the fault
	// Question is the column of the guarantee matrix for this kind of fault; "" if there is none.
	Question catalog.Question `json:"question,omitempty"`
}

// Faults lists all faults, including those that are not available in this lab.
func (l Lab) Faults() []Status {
	var list []Status
	for _, f := range All {
		s := Status{Kind: f.Name, Available: true, Holder: f.AtHolder(), Service: !f.AtHolder() && !f.hitsAllServices(),
			Lasts: f.Lasts, Uses: capabilityOf[f.target.server], Question: f.Question}
		if s.Lack = f.target.findLack(l.Lab); s.Lack != nil {
			s.Available, s.Missing = false, s.Lack.Text
		}
		list = append(list, s)
	}
	return list
}

// Inject injects a fault and returns when the fault has happened. Faults of different processes can overlap; faults
// of one process happen one after the other. A fault waits up to a second until a purchase is under way in a process
// that it will hit, because without a purchase it could not matter. A fault at a holder waits for a purchase until ctx
// ends or the stock is sold out. If there was no such purchase, Inject returns no error, and Effect.Why has the reason.
func (l Lab) Inject(ctx context.Context, name Name, a Aim) (*Injection, error) {
	f, err := Find(name)
	if err != nil {
		return nil, err
	}
	if lack := f.target.findLack(l.Lab); lack != nil {
		return nil, fmt.Errorf("%s is not available in this lab: %s", f.Name, lack.Text)
	}
	s := &strike{lab: l.Lab, aim: a}
	if err := s.findProcess(ctx, f.target); err != nil {
		return nil, err
	}
	if s.process == nil {
		return &Injection{Effect: s.before}, nil
	}
	defer s.process.Harm.Unlock()
	switch {
	// The harm to the holder of a lock is done completely even if ctx ends, because half of it could not be undone.
	case f.AtHolder():
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(context.WithoutCancel(ctx), harmTimeout)
		defer cancel()
	case f.hitsAllServices():
		s.before = s.awaitPurchase(ctx, 0)
	default:
		s.before = s.awaitPurchase(ctx, a.Service)
	}
	i, err := f.harm(ctx, s)
	if f.AtHolder() && (err != nil || !f.Lasts) {
		s.releasePurchase()
	}
	return i, err
}

// harmTimeout limits how long the injection of a fault may take while a purchase is stopped (see package point).
const harmTimeout = 20 * time.Second

// An Injection describes a fault that has been injected, and how to end the fault.
type Injection struct {
	Effect Effect
	// Undo ends a fault that lasts, and may correct the fault's Effect. The caller calls Undo once. If the fault has
	// ended already, Undo returns no error. Undo is nil if there is nothing to end.
	Undo func(context.Context, *Effect) error
}

// An Effect says what a fault did.
type Effect struct {
	// TookEffect reports whether the fault really happened: for example, the process stood still, or data were lost.
	TookEffect bool `json:"took_effect"`
	// CouldMatter reports whether units were left at the time of the fault and a purchase was under way in a process
	// that the fault hit. It is also true if this is not known.
	CouldMatter bool `json:"could_matter"`
	// Why says why the fault took no effect or could not matter; "" if it could matter.
	Why Why `json:"why,omitempty"`

	Service      int           `json:"service,omitempty"`    // number of the process hit, from 1; 0 if it was a server
	UnitsLeft    *int64        `json:"units_left,omitempty"` // units left before the fault; nil if not known
	InFlight     *int64        `json:"in_flight,omitempty"`  // purchases under way before the fault; nil if not known
	StandstillMS int           `json:"stood_ms,omitempty"`   // how long the process, or the purchase, stood still
	Holder       *point.Holder `json:"holder,omitempty"`     // the purchase that the fault has stopped
	At           point.Name    `json:"point,omitempty"`      // the point at which the fault has stopped Holder
}

// A Why says why a fault could not affect the sale.
type Why string

const (
	NoUnits    Why = "no_units"    // the stock was sold out
	Idle       Why = "idle"        // the process had no purchase under way
	NoPoint    Why = "no_point"    // the fault stops a purchase after its read, but the strategy does not read
	NotReached Why = "not_reached" // no purchase reached the point at which the fault stops a purchase
	WentOn     Why = "went_on"     // the fault had ended before Undo was called
	DataKept   Why = "data_kept"   // the server came back with its data
	// NothingPassed means that nothing was sent over the link during the fault, or that there was no reply to lose.
	NothingPassed Why = "nothing_passed"
	NotMet        Why = "not_met" // no command had to wait because of the fault
)

// judgeMatter sets CouldMatter from the state of the sale just before the fault.
func (e *Effect) judgeMatter() {
	switch {
	case !e.TookEffect:
		e.CouldMatter = false
	case e.UnitsLeft != nil && *e.UnitsLeft <= 0 && e.Holder == nil:
		e.CouldMatter, e.Why = false, NoUnits
	case e.InFlight != nil && *e.InFlight == 0 && e.Holder == nil:
		e.CouldMatter, e.Why = false, Idle
	default:
		e.CouldMatter = true
	}
}

func (e *Effect) markIneffective(why Why) { e.TookEffect, e.CouldMatter, e.Why = false, false, why }

// A Lack says why a lab cannot inject a fault. The page translates the code with its parameters.
type Lack struct {
	Code   string         `json:"code"`
	Params map[string]any `json:"params,omitempty"`
	Text   string         `json:"-"` // in English
}

// These are the values of Lack.Code. Lack.Params has the name of the server and, if needed, the topology.
const (
	LackServer   = "no_server"      // the lab has started no server, or several, with the name in Params
	LackGiven    = "given_server"   // the user has given the server's address, so the lab did not start the server
	LackLink     = "no_link"        // services reach the server directly, so no proxy can cut the connection
	LackTopology = "other_topology" // the fault needs several servers of this name, as in the topology in Params
)
