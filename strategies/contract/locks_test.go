package contract

import (
	"os"
	"slices"
	"testing"

	"seckill/internal/catalog"
	"seckill/internal/lab/labtest"
	"seckill/strategies"
)

func TestMain(m *testing.M) { os.Exit(labtest.Main(m)) }

// A row says what one lock can do, and which promises it breaks.
type row struct {
	can    Can
	breaks []Promise
}

// differs lists the promises that depend on code which a lock does not share with its
// sibling. make test tests these only, make verify tests all promises.
var differs = map[string][]Promise{
	"lock-table-segmented": {Exclusion, Overtaking, OtherKeys},

	"zk-norecheck": {Exclusion, Leaving, GivingUp, LostReply},
	"zk-herd":      {Exclusion, Overtaking, Leaving, GivingUp, Queue, Fence, LostReply},
	"zk-fenced":    {Exclusion, Overtaking, Queue, Fence, LostReply},
	"etcd-fenced":  {Exclusion, Queue, Fence},
}

const (
	told   = Tells | Undoes | Decides
	leased = Expires | Tells | Undoes
)

var (
	excludesNone = []Promise{Exclusion}
	anybodyFrees = []Promise{Owner} // DEL frees the lock, whoever owns it
	freesByName  = []Promise{Owner, ReleaseOnce}
)

// locks has a row for every lock of the program.
var locks = map[string]row{
	"mutex-per-request": {0, excludesNone},
	"mutex":             {0, []Promise{OtherKeys}},
	"mutex-per-sku":     {0, nil},

	"lock-insert-plain":    {Clears, with(freesByName, Death, LostReply)},
	"lock-insert-by-name":  {Expires | Clears, with(freesByName, LateRelease)},
	"lock-insert":          {leased | Reenters | Decides, nil},
	"lock-table-v1":        {Clears, with(freesByName, Death, LostReply)},
	"lock-table-central":   {Expires | Clears, with(freesByName, LateRelease)},
	"lock-table-segmented": {Expires | Clears, with(freesByName, LateRelease)},
	"lock-row":             {Undoes | Bound, nil},
	"get-lock":             {Undoes | Bound, nil},

	"redis-get-set":         {Clears, excludesNone},
	"redis-random-key":      {0, excludesNone},
	"redis-setnx":           {Clears, with(anybodyFrees, Death, LostReply)},
	"redis-setnx-expire":    {Expires | Clears, with(anybodyFrees, LostReply)},
	"redis-setex":           {Expires, excludesNone},
	"redis-setnx-timestamp": {Expires | Clears, with(anybodyFrees, Overtaking)},
	"redis-getset":          {Expires | Clears, anybodyFrees},
	"redis-set-nx-px":       {Expires, with(anybodyFrees, LateRelease)},
	"redis-renew":           {Expires | Renews | Limits, with(anybodyFrees, LateRelease, RenewalLost, RenewalFails)},
	"redis-token":           {Expires, anybodyFrees},
	"redis-lua":             {leased | Decides, nil},
	"redis-registry":        {leased | Reenters, nil},
	"redis-watchdog":        {leased | Renews | Limits | Reenters, nil},
	// It renews at two thirds of the lease, so after one renewal that fails the next comes too late.
	"redis-blpop":      {leased | Renews | Limits, []Promise{RenewalFails}},
	"redsync":          {leased | Decides, nil},
	"redlock":          {Expires | Tells, nil},
	"redis-multi-lock": {Expires, with(anybodyFrees, LateRelease)},
	"redis-fenced":     {leased | Fences | Decides, nil},

	"zk":           {told | Queues | Reenters | Fences, nil},
	"zk-norecheck": {told | Reenters, []Promise{GivingUp}},
	"zk-herd":      {told | Queues | Reenters | Fences, nil},
	"zk-node":      {told, []Promise{Owner}},
	"zk-fenced":    {told | Queues | Reenters | Fences, nil},

	"etcd":        {told | Queues | Fences, nil},
	"etcd-node":   {told | Fences, nil},
	"etcd-fenced": {told | Queues | Fences, nil},
}

func with(flaws []Promise, more ...Promise) []Promise { return slices.Concat(flaws, more) }

func TestLocks(t *testing.T) {
	inTurn, atOnce := map[string][]string{}, map[string]Harness{}
	for _, info := range strategies.All() {
		if info.Locker == nil {
			continue
		}
		if _, known := locks[info.Name]; !known {
			t.Errorf("%s is a lock without a row in this table", info.Name)
			continue
		}
		if info.Name == "redlock" && !labtest.Verify {
			continue // its time-outs are too short beside other tests on a busy machine
		}
		h := harness(t, info.Name)
		switch {
		case info.Family == "zklock":
			// If all locks of ZooKeeper were tested at once, ZooKeeper would answer later than its
			// shortest session lasts, which is one second.
			inTurn["zookeeper"] = append(inTurn["zookeeper"], info.Name)
		case h.Alone != "":
			inTurn[h.Alone] = append(inTurn[h.Alone], info.Name)
		default:
			atOnce[info.Name] = h
		}
	}
	for group, locks := range inTurn {
		t.Run(group, func(t *testing.T) {
			t.Parallel()
			for _, lock := range locks {
				t.Run(lock, func(t *testing.T) { Run(t, harness(t, lock)) })
			}
		})
	}
	t.Run("at once", func(t *testing.T) { // this is a group, so that the slow locks of other servers begin first
		t.Parallel()
		for lock, h := range atOnce {
			t.Run(lock, func(t *testing.T) {
				t.Parallel()
				Run(t, h)
			})
		}
	})
}

func harness(t *testing.T, lock string) Harness {
	info := strategies.Named(lock)
	h := harnesses[info.Family](t, info)
	h.Can, h.Breaks = locks[lock].can, locks[lock].breaks
	if !labtest.Verify {
		h.only = differs[lock]
	}
	return h
}

var harnesses = map[string]func(*testing.T, catalog.Info) Harness{
	"local": inProcess, "mysqllock": inMySQL, "redislock": inRedis, "zklock": inZooKeeper, "etcdlock": inEtcd,
}
