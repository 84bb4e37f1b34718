package main

import (
	"fmt"
	"reflect"
	"strings"
	"time"

	"github.com/alecthomas/kong"

	"seckill/internal/catalog"
	"seckill/internal/prove"
	"seckill/loadtest"
	"seckill/loadtest/compare"
)

// newParser reads flags into grammar. Structs of other packages are flags by
// their tags, whose defaults are those packages' own.
func newParser(grammar any, options ...kong.Option) (*kong.Kong, error) {
	return kong.New(grammar, append(options, kong.NamedMapper("addresses", kong.MapperFunc(addresses)),
		kong.Vars{"HelpAll": "Show also the rare flags, and variables."}, defaults("", catalog.DefaultSettings()), defaults("Load", loadtest.DefaultScenario()), defaults("Preset", compare.Presets()[0].Settings),
		defaults("Prove", prove.DefaultOptions()))...)
}

// defaults are the fields of a struct, as ${prefixField}.
func defaults(prefix string, of any) kong.Vars {
	vars := kong.Vars{}
	v := reflect.ValueOf(of)
	for _, f := range reflect.VisibleFields(v.Type()) {
		vars[prefix+f.Name] = strings.Replace(fmt.Sprint(v.FieldByIndex(f.Index)), "m0s", "m", 1)
	}
	return vars
}

// addresses are separated by commas. An empty variable and a stray comma make
// empty ones, which do not count.
func addresses(c *kong.DecodeContext, into reflect.Value) error {
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

func checkLockTimes(t catalog.LockTimes) error {
	d := catalog.DefaultSettings()
	for _, flag := range []struct {
		name        string
		value, like time.Duration
	}{
		{"--lock-wait", t.LockWait, d.LockWait}, {"--lock-lease", t.LockLease, d.LockLease}, {"--lock-poll", t.LockPoll, d.LockPoll},
	} {
		if flag.value < time.Millisecond {
			return fmt.Errorf("%s must be 1ms or longer, such as %s", flag.name, flag.like)
		}
	}
	return nil
}
