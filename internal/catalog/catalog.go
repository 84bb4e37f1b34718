// Package catalog describes strategies: their names, guarantees and needs, and how to build them on
// the backends of an instance.
package catalog

import (
	"cmp"
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

// Info describes one strategy. It is a value in the strategy's own file, and Family.Strategy completes it. The API
// shows the fields that have a name in JSON.
type Info struct {
	Name   string   `json:"name"`   // for example "for-update"
	Family string   `json:"family"` // the strategy's package, for example "sqlrow"
	Files  embed.FS `json:"-"`      // the sources and lessons of the family
	Source string   `json:"source"` // the article and idea that the strategy comes from
	// Guarantees has the expected answers of the proof. A question that is missing is open or does not apply.
	Guarantees Guarantees `json:"guarantees"`
	// Repair names a strategy without this one's errors that needs no other server. It is empty if none is known.
	Repair string               `json:"repair,omitempty"`
	Needs  []backend.Capability `json:"needs"`
	Stock  seckill.StockStore   `json:"stock"` // where the strategy stores its stock
	// Redis lists the commands that the strategy itself sends to Redis. If there are any, the capability Redis is the
	// last entry of Needs. The service checks that its Redis user may run them. Commands that the strategy's scripts
	// call are not in the list.
	Redis []string `json:"-"`
	// Also lists files that the page shows after the strategy's own file: its scripts, and files that
	// it shares with other strategies.
	Also []string `json:"-"`

	Renews   bool `json:"-"`        // the lock has no fixed lease; it is renewed while it is held
	Fenced   bool `json:"-"`        // the lock has a fencing token, which the stock row checks
	Shares   bool `json:"-"`        // purchases of one process may share a transaction
	Reserves bool `json:"reserves"` // New returns a seckill.Reserver
	Accepts  bool `json:"accepts"`  // New returns a seckill.Acceptor
	OneNode  bool `json:"-"`        // the lock is local to one node of a database cluster
	Refuses  bool `json:"-"`        // the strategy's only error is to wrongly refuse buyers of several units

	// New builds the strategy. It is nil if the strategy is a lock, which Locker builds.
	New func(Deps) (seckill.Strategy, error) `json:"-"`
	// Locker builds the lock. Key returns the name that the lock of a SKU has on its server.
	// A strategy that New builds also has a Key if it takes a lock on a server.
	Locker func(Deps) (lock.Locker, error) `json:"-"`
	Key    func(sku int64) string          `json:"-"`

	Stored Stored `json:"-"`
}

// Stored says where a strategy stores the stock of a SKU, and its locks. Other packages use it to
// show what the servers store, and to stop a purchase after it has read the stock.
type Stored struct {
	// Reads is the beginning of the SQL statement that reads the units left. Writes is the beginning
	// of the statement that writes them.
	Reads, Writes string
	LockTable     string // the SQL table that has the locks, or ""
	// RedisKeys returns the Redis keys of a SKU's stock. The first one holds the units left.
	RedisKeys func(sku int64) []string
	// Entries returns the key of the Redis stream with a SKU's purchases that have no order yet.
	Entries func(sku int64) string
}

// A Family is a package of strategies. It has the values that most of its strategies share.
type Family struct {
	Name  string
	Files embed.FS               // the sources and lessons that the page shows
	Needs []backend.Capability   // the capabilities that a strategy needs if its Info lists none
	Key   func(sku int64) string // the key of a lock if its Info has no Key
}

// Strategy returns i with the family's name and files, and fills in what i leaves empty. The defaults are the family's
// Needs and Key, the stock row as the stock store, and the first words of the statements that read and write it.
func (f Family) Strategy(i Info) Info {
	i.Family, i.Files = f.Name, f.Files
	if i.Needs == nil {
		i.Needs = f.Needs
	}
	if i.Locker != nil && i.Key == nil {
		i.Key = f.Key
	}
	i.Stock = cmp.Or(i.Stock, seckill.InRow)
	i.Stored.Reads = cmp.Or(i.Stored.Reads, "SELECT num")
	i.Stored.Writes = cmp.Or(i.Stored.Writes, "UPDATE stock SET num")
	return i
}

// Settings are the options of all strategies, and flags of the service. Fields that DefaultSettings
// does not set are zero by default.
type Settings struct {
	LockTimes
	MaxHold       time.Duration `group:"rare" name:"lock-max-hold" default:"0" env:"SECKILL_LOCK_MAX_HOLD" help:"Stop renewing a lock after this long, for a holder that hangs; 0: never."`
	RecordLock    bool          `group:"rare" name:"lock-record-for-update" env:"SECKILL_LOCK_RECORD_FOR_UPDATE" help:"lock-table-…: also read the lock record FOR UPDATE, which can deadlock."`
	MicrosecondTS bool          `group:"rare" name:"timestamp-microseconds" env:"SECKILL_TIMESTAMP_MICROSECONDS" help:"timestamp: compare microseconds, not whole seconds."`
	Retries       int           `group:"rare" default:"${Retries}" env:"SECKILL_RETRIES" help:"Further attempts of an optimistic strategy."`
	QueueAtOnce   int           `group:"rare" default:"${QueueAtOnce}" env:"SECKILL_QUEUE_AT_ONCE" help:"queued: how many buyers of one SKU each process lets through at a time."`
}

// LockTimes has the durations that apply to locks. Each is at least a millisecond.
type LockTimes struct {
	LockWait  time.Duration `default:"${LockWait}" env:"SECKILL_LOCK_WAIT" help:"How long a buyer waits for a lock or a row."`
	LockLease time.Duration `default:"${LockLease}" env:"SECKILL_LOCK_LEASE" help:"How long a lock lives unrenewed."`
	LockPoll  time.Duration `default:"${LockPoll}" env:"SECKILL_LOCK_POLL" help:"About how long a lock that polls pauses between two attempts."`
}

// DefaultSettings returns settings for a demo on one machine.
func DefaultSettings() Settings {
	times := LockTimes{LockWait: 3 * time.Second, LockLease: 8 * time.Second, LockPoll: 10 * time.Millisecond}
	return Settings{LockTimes: times, Retries: 32, QueueAtOnce: 8}
}

// Deps has the dependencies of a strategy.
type Deps struct {
	*backend.Instance
	Ledger   *ledger.Store // the ledger, bound to the strategy's name
	Settings Settings
	Log      *slog.Logger

	// Now is the clock of this process for strategies that compare times of day; nil means time.Now. Tests set Now to
	// imitate machines whose clocks differ. Waits always use time.Now.
	Now func() time.Time
}

// Uses returns the capabilities that a sale with the strategy needs: a SQL database for the ledger, those in Needs,
// and the right to run each of the strategy's Redis commands.
func (i Info) Uses() []backend.Capability {
	uses := append([]backend.Capability{backend.SQL}, i.Needs...)
	for _, command := range i.RedisCommands() {
		uses = append(uses, backend.Right(i.Needs[len(i.Needs)-1], command))
	}
	return uses
}

// RedisCommands returns all commands that the strategy's Redis user must be allowed to run: those
// in i.Redis, those in its scripts, and EVAL.
func (i Info) RedisCommands() []string {
	commands := slices.Clone(i.Redis)
	for _, name := range i.Also {
		if !strings.HasSuffix(name, ".lua") {
			continue
		}
		script, _ := i.Files.ReadFile(name) // the file is embedded, so this cannot fail
		for _, called := range inScript.FindAllSubmatch(script, -1) {
			commands = append(commands, string(called[1]))
		}
		commands = append(commands, "EVAL", "EVALSHA")
	}
	slices.Sort(commands)
	return slices.Compact(commands)
}

// inScript finds a Redis command in a script: the first argument of redis.call, of redis.pcall or
// of the function write in undo.lua.
var inScript = regexp.MustCompile(`(?:[({]|nil, |}, )'([A-Z]+)'`)

// Missing returns the reasons why the strategy cannot run on an instance, or nil if it can.
func (i Info) Missing(in *backend.Instance) []string {
	var why []string
	for _, need := range i.Uses() {
		if ok, reason := in.Has(need); !ok && (len(why) == 0 || why[len(why)-1] != reason) {
			why = append(why, reason)
		}
	}
	return why
}

// Needing returns the names of the strategies that need the given capability.
func Needing(all []Info, need backend.Capability) []string {
	var names []string
	for _, i := range all {
		if slices.Contains(i.Uses(), need) {
			names = append(names, i.Name)
		}
	}
	return names
}

// Build builds the strategy. If i describes a lock, the strategy reads, computes and writes the stock under this lock.
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

// NewLocker builds the lock of a strategy, for use without a sale. d.Ledger may be nil.
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

// LockOptions returns the options with which a purchase takes the strategy's lock.
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

// Languages lists the languages in which there are lessons and titles.
var Languages = []string{"en", "zh"}

// Lesson returns the strategy's lesson as Markdown. The lesson is in the folder of the strategy's
// file: for_update.zh.md is the Chinese lesson of for_update.go.
func (i Info) Lesson(language string) (string, error) {
	text, err := i.Files.ReadFile(i.stem() + "." + language + ".md")
	if err != nil {
		return "", fmt.Errorf("the lesson of %s: %w", i.Name, err)
	}
	return string(text), nil
}

// TitleIn returns the strategy's title in the given language: the heading of its lesson, or Name if there is no lesson.
func (i Info) TitleIn(language string) string {
	text, err := i.Lesson(language)
	first, _, _ := strings.Cut(text, "\n")
	heading, found := strings.CutPrefix(first, "# ")
	if err != nil || !found {
		return i.Name
	}
	return heading
}

// Sources returns the names of the strategy's files, its own file first.
func (i Info) Sources() []string {
	return append([]string{i.stem() + ".go"}, i.Also...)
}

func (i Info) stem() string { return strings.ReplaceAll(i.Name, "-", "_") }
