package main

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/alecthomas/kong"

	"seckill/internal/catalog"
	"seckill/internal/prove"
	"seckill/internal/tables"
	"seckill/loadtest"
	"seckill/loadtest/compare"
)

// newParser returns a parser that reads flags into grammar. Structs of other packages are flags by
// their tags, and these packages have the defaults.
func newParser(grammar any, options ...kong.Option) (*kong.Kong, error) {
	usual := compare.Presets()[0]
	return kong.New(grammar, append(options, kong.NamedMapper("addresses", kong.MapperFunc(decodeAddresses)),
		kong.Vars{"HelpAll": "Show the rare flags and the environment variables, too.", "PresetRounds": fmt.Sprint(usual.Rounds), "PresetTurn": usual.Turn.String(),
			"Baselines": strings.Join(compare.BaselineNames(), ",")},
		defaultVars("", catalog.DefaultSettings()), defaultVars("Load", loadtest.DefaultScenario()), defaultVars("Prove", prove.DefaultOptions()))...)
}

// defaultVars returns the numbers, times and names of a struct as variables ${prefixField}. They
// should be few, because kong goes through all variables for each flag at the start.
func defaultVars(prefix string, of any) kong.Vars {
	vars := kong.Vars{}
	v := reflect.ValueOf(of)
	for _, f := range reflect.VisibleFields(v.Type()) {
		value := v.FieldByIndex(f.Index)
		switch f.Type.Kind() {
		case reflect.Int, reflect.Int64, reflect.Float64, reflect.String:
			vars[prefix+f.Name] = fmt.Sprint(value)
		}
		if d, ok := value.Interface().(time.Duration); ok {
			vars[prefix+f.Name] = tables.Span(d)
		}
	}
	return vars
}

// decodeAddresses reads addresses that are separated by commas, and skips empty ones.
func decodeAddresses(c *kong.DecodeContext, into reflect.Value) error {
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

// noEmptyValue refuses a flag with an empty value. A script passes one if a variable is not set, and
// most flags would then mean something else. If an empty value has a meaning, the flag is a pointer.
func noEmptyValue(line *kong.Context) error {
	for _, given := range line.Path {
		if f := given.Flag; f != nil && strings.Trim(fmt.Sprint(line.FlagValue(f)), "[] \t") == "" {
			return fmt.Errorf("--%s is empty: give it a value, or leave it out", f.Name)
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

// groups has the groups of flags in the help. A command with --help-all shows the group rare only
// there, so that its --help fits on one screen.
var groups = kong.ExplicitGroups([]kong.Group{
	{Key: "sale", Title: "The sale:"},
	{Key: "time", Title: "When purchases are sent:"},
	{Key: "output", Title: "The result:"},
	{Key: "rare", Title: "Rarely needed:"},
})

var helpOptions = kong.HelpOptions{Compact: true, ValueFormatter: kong.DefaultHelpValueFormatter}

// helpAll is the flag --help-all of a command with rare flags.
type helpAll bool

// IgnoreDefault tells kong that the flag has no default.
func (helpAll) IgnoreDefault() {}

// BeforeReset prints the help before the command line is checked, as --help does.
func (helpAll) BeforeReset(line *kong.Context) error {
	err := kong.DefaultHelpPrinter(helpOptions, line)
	line.Exit(0)
	return err
}

// printHelp prints the help for --help. For a command with --help-all it leaves out the rare flags
// and the names of variables.
func printHelp(options kong.HelpOptions, line *kong.Context) error {
	if isHelpAll := func(f *kong.Flag) bool { return f.Name == "help-all" }; slices.ContainsFunc(line.Flags(), isHelpAll) {
		for _, f := range line.Flags() {
			f.Hidden = f.Group != nil && f.Group.Key == "rare"
		}
		options.ValueFormatter = func(v *kong.Value) string { return v.Help }
	}
	return kong.DefaultHelpPrinter(options, line)
}
