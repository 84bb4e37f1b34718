package main

import (
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/alecthomas/kong"

	"seckill/internal/backend"
	"seckill/internal/catalog"
	"seckill/internal/lab"
	"seckill/internal/prove"
	"seckill/internal/tables"
	"seckill/loadtest"
	"seckill/loadtest/compare"
)

// newParser returns a parser that reads flags into grammar. Some structs in grammar belong to other packages,
// which also provide the defaults and the help texts of their flags.
func newParser(grammar any, options ...kong.Option) (*kong.Kong, error) {
	return kong.New(grammar, append(options, kong.NamedMapper("addresses", addressList{}), helpTexts,
		kong.Vars(backend.FlagHelp), kong.Vars(loadtest.FlagHelp()), kong.Vars(compare.FlagHelp()),
		defaultVars())...)
}

// helpTexts has the help of flags that several commands have, or whose help is too long for a tag.
// A tag refers to its text as ${NAME}.
var helpTexts = kong.Vars{
	"JSON":     "Write the result as JSON; - is standard output.",
	"CSV":      "Write the figures as CSV; - is standard output.",
	"Shutdown": "How long a shutdown waits for purchases in flight.",
	"Faults":   "Faults, separated by commas, or all; none is a sale without a fault. --list shows them.",
	"BenchFor": "Duration of one measurement; longer if needed for ten turns of each contender.",
	"Gated":    "Locks to measure once more behind a gate, which lets one contender of this process wait for the lock.",
	"HelpAll":  "Show the rare flags and the environment variables, too.",
	"Markdown": "Write it as Markdown, between its marks if the file exists; - is standard output.",
	"Record": "Record what the servers answer to every move of the level, or of all levels, into files from which " +
		"seckill site plays them.",
	"Replay": "Run one schedule again, step by step, and show it: STRATEGY:MOVES as a game writes it, such as " +
		"naive:abba; STRATEGY.QUESTION, a counterexample of the matrix in this program; or a counterexample's " +
		"FILE.json.",
	"Resume": "Finish an interrupted run from its JSON file, which has its strategies, faults, rate, seed " +
		"and topology.",
	"Target":     "URLs of services that run already; give their database as well (see --help-all). Default: a lab's.",
	"Topologies": strings.Join(lab.TopologyNames, ","),
	"MySQLConns": "Maximum number of connections to the SQL database.",
	"Tiers":      "Where backends come from (given, private, embedded), to be shown.",
	"Word": "List only strategies with this word in their name, family or title, or known by it, such as " +
		"optimistic or 乐观锁.",
	"StrategyNames": "Strategies, separated by commas; all; or six: those that people ask for first.",
	"Thorough": "Also send copies of requests, cut connections, and reserve if the strategy can; and kill a service " +
		"process, or the database, of the lab that is started.",
	"Token": "Token of admin calls. Better in SECKILL_TOKEN: every user of the machine can read flags.",
	"PageToken": "Token for calls that change something, except a buyer's. Needed to listen on addresses other than " +
		"this machine's own.",
	"History": "Where runs and comparisons are kept. Default: seckill in $XDG_DATA_HOME or in " +
		"~/.local/share. Empty: nowhere.",
	"FaultPoints": "Let admin calls stop a purchase between its read and its write, and cut connections. For labs, " +
		"never for a shop.",
	"Session":    "Session time-out to ask ZooKeeper for: how long a dead holder blocks the others.",
	"AdminAddr":  "Take admin calls without a token at 127.0.0.1:PORT, from every user of this machine.",
	"ProveMySQL": "Use this MySQL instead of a private one. Nothing else may use it meanwhile.",
}

// defaultVars returns the default values to which tags of other packages refer.
func defaultVars() kong.Vars {
	lock, proof := catalog.DefaultSettings(), prove.DefaultOptions()
	return kong.Vars{"LockWait": tables.Span(lock.LockWait), "LockLease": tables.Span(lock.LockLease),
		"LockPoll": tables.Span(lock.LockPoll), "Retries": fmt.Sprint(lock.Retries),
		"QueueAtOnce": fmt.Sprint(lock.QueueAtOnce), "ProveSchedules": fmt.Sprint(proof.Schedules),
		"ProveBudget": tables.Span(proof.Budget), "ProveWorkers": fmt.Sprint(proof.Workers)}
}

// addressList reads addresses that are separated by commas, and skips empty ones.
type addressList struct{}

// PlaceHolder returns the text that the help shows in place of a value.
func (addressList) PlaceHolder(*kong.Flag) string { return "HOST:PORT,..." }

// Decode reads the addresses of a flag and appends them to a list.
func (addressList) Decode(c *kong.DecodeContext, into reflect.Value) error {
	var text string
	if err := c.Scan.PopValueInto("addresses", &text); err != nil {
		return err
	}
	for address := range strings.SplitSeq(text, ",") {
		if strings.TrimSpace(address) != "" {
			into.Set(reflect.Append(into, reflect.ValueOf(address)))
		}
	}
	return nil
}

var negative = regexp.MustCompile(`^-[0-9.]`)

// joinNegatives turns the arguments --stock -1 into --stock=-1. Otherwise the parser would take -1 for a flag.
func joinNegatives(args []string) (joined []string) {
	for i, arg := range args {
		if i > 0 && negative.MatchString(arg) && strings.HasPrefix(args[i-1], "--") {
			joined[len(joined)-1] += "=" + arg
		} else {
			joined = append(joined, arg)
		}
	}
	return joined
}

func givenFlags(line *kong.Context) map[string]any {
	given := map[string]any{}
	for _, p := range line.Path {
		if p.Flag != nil {
			given[p.Flag.Name] = line.FlagValue(p.Flag)
		}
	}
	return given
}

// noEmptyValue returns an error if a flag has an empty value. Scripts pass empty values by mistake if a variable is
// not set, and most flags would then mean something else. A flag for which an empty value has a meaning is a pointer.
func noEmptyValue(line *kong.Context) error {
	for name, value := range givenFlags(line) {
		if strings.Trim(fmt.Sprint(value), "[] \t") == "" {
			return fmt.Errorf("--%s is empty: give it a value, or leave it out", name)
		}
	}
	return nil
}

func checkLockTimes(t catalog.LockTimes) error {
	if min(t.LockWait, t.LockLease, t.LockPoll) < time.Millisecond {
		return errors.New("--lock-wait, --lock-lease and --lock-poll must be 1ms or longer, such as 10ms")
	}
	return nil
}

// groups has the groups of flags in the help. If a command has --help-all, its --help leaves out
// the group "rare", so that the help fits on one screen.
var groups = kong.ExplicitGroups([]kong.Group{
	{Key: "sale", Title: "The sale:"},
	{Key: "time", Title: "When purchases are sent:"},
	{Key: "output", Title: "The result:"},
	{Key: "rare", Title: "Rarely needed:"},
})

var helpOptions = kong.HelpOptions{Compact: true, ValueFormatter: kong.DefaultHelpValueFormatter}

// helpAll is the flag --help-all. Commands with rarely needed flags have it.
type helpAll bool

// IgnoreDefault is a method that kong needs. It does nothing, because the flag has no default.
func (helpAll) IgnoreDefault() {}

// BeforeReset prints the help before kong checks the command line, as the flag --help does.
func (helpAll) BeforeReset(line *kong.Context) error {
	err := kong.DefaultHelpPrinter(helpOptions, line)
	line.Exit(0)
	return err
}

// printHelp prints the help for --help. If the command has --help-all, it leaves out the rare flags
// and the names of environment variables.
func printHelp(options kong.HelpOptions, line *kong.Context) error {
	isHelpAll := func(f *kong.Flag) bool { return f.Name == "help-all" }
	if slices.ContainsFunc(line.Flags(), isHelpAll) {
		for _, f := range line.Flags() {
			f.Hidden = f.Group != nil && f.Group.Key == "rare"
		}
		options.ValueFormatter = func(v *kong.Value) string { return v.Help }
	}
	return kong.DefaultHelpPrinter(options, line)
}

func checkToken(token string) error {
	if strings.ContainsFunc(token, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return errors.New("--token must be of visible ASCII characters, as a header has")
	}
	return nil
}
