// Package catalog describes strategies: what each is, what it promises, what
// it needs, and how to build it on an instance's backends.
package catalog

import (
	"embed"
	"fmt"
	"log/slog"
	"regexp"
	"slices"
	"strings"
	"time"

	"seckill/internal/backend"
	"seckill/internal/ledger"
	"seckill/internal/lock"
	"seckill/internal/seckill"
)

// Info is everything the program knows about one strategy. It is a value in
// the strategy's own file; strategies.All adds Family and Files. The API shows
// what has a name in JSON.
type Info struct {
	Name   string   `json:"name"`   // as it is selected: "for-update"
	Family string   `json:"family"` // the package it lives in: "sqlrow"
	Files  embed.FS `json:"-"`      // the sources and lessons of the family
	Source string   `json:"source"` // which article and idea it comes from
	// Guarantees is what we expect the proof to answer. A question that is
	// missing is open, or does not apply.
	Guarantees Guarantees `json:"guarantees"`
	// Repair is the strategy to try next when this one breaks: it needs no other
	// server. Empty if none is known to mend it.
	Repair string               `json:"repair,omitempty"`
	Needs  []backend.Capability `json:"needs"`
	Stock  seckill.StockStore   `json:"stock"`
	// Redis names the commands that it sends to Redis, the last of Needs, beside its scripts.
	Redis []string `json:"-"`
	// Also names what runs with the strategy's own file, and is shown with it:
	// its scripts, and files that it shares with its neighbours.
	Also []string `json:"-"`

	// Renews: a lock that is taken without a lease and renewed while it is held.
	Renews bool `json:"-"`
	// Fenced: the lock has a fencing token, and the stock row checks it.
	Fenced bool `json:"-"`
	// Shares: purchases of one process may share a transaction. The proof then
	// puts several buyers into one.
	Shares bool `json:"-"`
	// Reserves: the strategy is a seckill.Reserver.
	Reserves bool `json:"reserves"`
	// Accepts: the strategy is a seckill.Acceptor.
	Accepts bool `json:"accepts"`
	// OneNode: what keeps others out is a lock that one database server has by
	// itself: in a cluster, another node grants it as well.
	OneNode bool `json:"-"`

	// Refuses: what breaks it refuses buyers of several units what is there. It
	// never oversells, and a sale of single units holds.
	Refuses bool `json:"-"`

	// New builds the strategy. Nil for a lock: Locker and Key are used then.
	New func(Deps) (seckill.Strategy, error) `json:"-"`
	// Locker builds the lock; Key names a SKU's lock in the backend's own form.
	Locker func(Deps) (lock.Locker, error) `json:"-"`
	Key    func(sku int64) string          `json:"-"`
}

// Settings are the options of all strategies, and flags of the service. The zero
// value of each field that DefaultSettings leaves out is its default.
type Settings struct {
	LockTimes
	MaxHold       time.Duration `group:"rare" name:"lock-max-hold" default:"0" env:"SECKILL_LOCK_MAX_HOLD" help:"Stop renewing a lock after this long, for a holder that hangs; 0: never."`
	RecordLock    bool          `group:"rare" name:"lock-record-for-update" env:"SECKILL_LOCK_RECORD_FOR_UPDATE" help:"lock-table-…: also read the lock record FOR UPDATE, which can deadlock."`
	MicrosecondTS bool          `group:"rare" name:"timestamp-microseconds" env:"SECKILL_TIMESTAMP_MICROSECONDS" help:"timestamp: compare microseconds, not whole seconds."`
	Retries       int           `group:"rare" default:"${Retries}" env:"SECKILL_RETRIES" help:"Further attempts of an optimistic strategy."`
	QueueAtOnce   int           `group:"rare" default:"${QueueAtOnce}" env:"SECKILL_QUEUE_AT_ONCE" help:"queued: how many buyers of one SKU each process lets through at a time."`
}

// LockTimes are the waits of locks; each is at least a millisecond.
type LockTimes struct {
	LockWait  time.Duration `default:"${LockWait}" env:"SECKILL_LOCK_WAIT" help:"How long a buyer waits for a lock or a row."`
	LockLease time.Duration `default:"${LockLease}" env:"SECKILL_LOCK_LEASE" help:"How long a lock lives unrenewed."`
	LockPoll  time.Duration `default:"${LockPoll}" env:"SECKILL_LOCK_POLL" help:"About how long a lock that polls pauses between two attempts."`
}

// DefaultSettings suit a demo on one machine.
func DefaultSettings() Settings {
	return Settings{LockTimes: LockTimes{LockWait: 3 * time.Second, LockLease: 8 * time.Second, LockPoll: 10 * time.Millisecond}, Retries: 32, QueueAtOnce: 8}
}

// Deps is what a strategy is built from.
type Deps struct {
	*backend.Instance
	Ledger   *ledger.Store // bound to the strategy's name
	Settings Settings
	Log      *slog.Logger

	// Now is the clock of this process, for strategies that compare times of
	// day: clocks of different machines differ. Nil means time.Now. Waiting is
	// measured with time.Now, whose monotonic clock cannot be set.
	Now func() time.Time
}

// Uses is what a sale with the strategy needs: a SQL database for the ledger,
// what the strategy itself asks for, and its rights.
func (i Info) Uses() []backend.Capability {
	uses := append([]backend.Capability{backend.SQL}, i.Needs...)
	for _, command := range i.RedisCommands() {
		uses = append(uses, backend.Right(i.Needs[len(i.Needs)-1], command))
	}
	return uses
}

// RedisCommands are all commands for which its user of Redis needs a right: those of
// Redis, its scripts, and what these run.
func (i Info) RedisCommands() []string {
	commands := slices.Clone(i.Redis)
	for _, name := range i.Also {
		if !strings.HasSuffix(name, ".lua") {
			continue
		}
		script, _ := i.Files.ReadFile(name) // it is embedded, as the page shows it
		for _, called := range inScript.FindAllSubmatch(script, -1) {
			commands = append(commands, string(called[1]))
		}
		commands = append(commands, "EVAL", "EVALSHA")
	}
	slices.Sort(commands)
	return slices.Compact(commands)
}

// inScript finds a command: the first argument of redis.call, and of redis.pcall or undo.lua's write.
var inScript = regexp.MustCompile(`(?:[({]|nil, |}, )'([A-Z]+)'`)

// Missing says why a strategy cannot run on an instance; nil if it can.
func (i Info) Missing(in *backend.Instance) []string {
	var why []string
	for _, need := range i.Uses() {
		if ok, reason := in.Has(need); !ok && (len(why) == 0 || why[len(why)-1] != reason) {
			why = append(why, reason)
		}
	}
	return why
}

// Needing returns the names of the strategies that need a capability.
func Needing(all []Info, need backend.Capability) (names []string) {
	for _, i := range all {
		if slices.Contains(i.Uses(), need) {
			names = append(names, i.Name)
		}
	}
	return names
}

// Build makes the strategy on d. A lock is wrapped round the unprotected
// read–compute–write.
func Build(i Info, d Deps) (seckill.Strategy, error) {
	d = d.complete()
	d.Ledger = d.Ledger.For(i.Name)
	if i.New != nil {
		return i.New(d)
	}
	locker, err := NewLocker(i, d)
	if err != nil {
		return nil, err
	}
	return &lock.Guarded{Locker: locker, Key: i.Key, MaxLifetime: d.Settings.LockLease,
		Options: i.LockOptions(d.Settings), Ledger: d.Ledger, Fenced: i.Fenced}, nil
}

// NewLocker makes the lock of a strategy that is one, without anything to
// protect; d.Ledger may be nil.
func NewLocker(i Info, d Deps) (lock.Locker, error) {
	if i.Locker == nil {
		return nil, fmt.Errorf("%s deducts stock by itself: it is not a lock", i.Name)
	}
	locker, err := i.Locker(d.complete())
	if err != nil {
		return nil, fmt.Errorf("%s: %w", i.Name, err)
	}
	return locker, nil
}

// LockOptions are what a purchase asks of the lock.
func (i Info) LockOptions(s Settings) lock.Options {
	o := lock.Options{Wait: s.LockWait, Lease: s.LockLease}
	if i.Renews {
		o.Lease = 0
	}
	return o
}

func (d Deps) complete() Deps {
	if d.Log == nil {
		d.Log = slog.New(slog.DiscardHandler)
	}
	if d.Now == nil {
		d.Now = time.Now
	}
	if d.Settings.LockPoll <= 0 {
		d.Settings.LockPoll = DefaultSettings().LockPoll
	}
	if d.Settings.QueueAtOnce <= 0 {
		d.Settings.QueueAtOnce = DefaultSettings().QueueAtOnce
	}
	return d
}

// Languages are those in which everything is taught.
var Languages = []string{"en", "zh"}

// Lesson is what a strategy teaches, as Markdown: the file beside its own,
// for_update.zh.md beside for_update.go. It is an error if there is none.
func (i Info) Lesson(language string) (string, error) {
	text, err := i.Files.ReadFile(i.stem() + "." + language + ".md")
	if err != nil {
		return "", fmt.Errorf("the lesson of %s: %w", i.Name, err)
	}
	return string(text), nil
}

// TitleIn is the strategy's title in a language: the heading of its lesson, or
// Name if it has none.
func (i Info) TitleIn(language string) string {
	text, err := i.Lesson(language)
	first, _, _ := strings.Cut(text, "\n")
	heading, found := strings.CutPrefix(first, "# ")
	if err != nil || !found {
		return i.Name
	}
	return heading
}

// Sources are the names of the files that run, the strategy's own one first.
func (i Info) Sources() []string {
	return append([]string{i.stem() + ".go"}, i.Also...)
}

func (i Info) stem() string { return strings.ReplaceAll(i.Name, "-", "_") }
