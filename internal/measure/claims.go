package measure

import "strings"

// A Statement of an article. It is shown beside a figure or a proof and never
// judged: "faster" is true of a machine and a day.
type Statement struct {
	Article string `json:"article"`
	Says    string `json:"says"`

	Strategies []string `json:"-"` // that it is about
}

// Names lists the strategies by comma, as flags take them.
func (s Statement) Names() string { return strings.Join(s.Strategies, ",") }

// LocksOfD are the locks that D's table compares: Redis, ZooKeeper, and the
// database by a locked row and by an inserted one.
var LocksOfD = []string{"redis-lua", "redis-watchdog", "zk", "lock-row", "lock-insert"}

var (
	locksOfDAndPlain = append(LocksOfD[:len(LocksOfD):len(LocksOfD)], "lock-insert-plain")
	choicesOfB       = []string{"redis-counter", "mysql-counter", "redis-counter-mysql", "redis-lock-mysql"}
)

// Statements about locks that a run answers with a figure.
var (
	CentralRow      = Statement{"B", "one central row 8 s, a hundred segments 5 s: 1.60 times", nil}
	Speed           = Statement{"D", "speed: cache > ZooKeeper ≥ database", []string{"redis-lua", "zk", "lock-insert", "lock-row"}}
	SpeedContended  = Statement{"D", "the same, under contention", Speed.Strategies}
	PollingCosts    = Statement{"A", "polling costs Redis", []string{"redis-lua", "redis-watchdog"}}
	ZooKeeperCosts  = Statement{"A", "frequent locking costs ZooKeeper", []string{"zk"}}
	LockPessimistic = Statement{"A", pessimistic, []string{"lock-row"}}
	PauseFitsTask   = Statement{"E", "a pause between attempts in proportion to the task", nil}
	LeaseFitsTask   = Statement{"E", "a lease several times the task", nil}
)

const pessimistic = "a pessimistic lock suits low concurrency"

// Statements that the guarantee matrix answers.
var (
	Reliability = Statement{"D", "reliability: ZooKeeper > cache > database", LocksOfD}
	Expiry      = Statement{"D", "expiry: by itself in Redis; by hand in ZooKeeper and with an inserted row; " +
		"with its transaction for a locked row", locksOfDAndPlain}
	Queues = Statement{"D", "a queue of those who wait: none in Redis and with an inserted row; " +
		"ZooKeeper and a locked row have one", LocksOfD}
	LongWork = Statement{"D", "work that takes longer than the time limit: Redis must renew; the others have no such problem", LocksOfD}
	Failures = Statement{"D", "a lock that is not freed after a failure: expires in Redis, goes with the session or the transaction; " +
		"an inserted row stays", locksOfDAndPlain}
	Consistency = Statement{"B", "four choices by consistency: Redis has none; MySQL, and both together, have it", choicesOfB}
)

// Statements about purchases, answered with few buyers at a time and with many.
var (
	Concurrency = Statement{"B", "the same choices by concurrency: Redis for many, MySQL for few, both for many", purchasesOfB}

	Purchases = []Statement{
		{"A", pessimistic, []string{"for-update", "version", "conditional"}},
		{"B", "four choices by concurrency and consistency", purchasesOfB},
	}
)

var purchasesOfB = []string{"lock-table-segmented",
	"mysql-counter", "redis-counter", "redis-counter-mysql", "redis-lock-mysql"}
