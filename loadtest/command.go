package loadtest

import (
	"fmt"
	"strings"
)

// Command is the command line that holds the sale of s again, with the same
// buyers. It knows what the lab's runs can ask for: one SKU, one quantity, and no
// steps.
func (s Scenario) Command() string {
	usual := DefaultScenario()
	line := []string{"seckill load --strategy " + s.Strategy}
	add := func(flag string, value any) { line = append(line, fmt.Sprintf("--%s %v", flag, value)) }
	if s.SKU != usual.SKU {
		add("sku", s.SKU)
	}
	add("stock", s.Stock)
	if s.Quantity != usual.Quantity {
		add("quantity", s.Quantity)
	}
	if s.Profile != usual.Profile {
		add("profile", s.Profile)
	}
	switch s.Profile {
	case Constant, Ramp:
		add("rate", s.Rate)
		if s.Profile == Ramp {
			add("to-rate", s.ToRate)
		}
		add("duration", s.Duration)
	case Closed:
		add("buyers", s.Buyers)
		add("concurrency", s.Concurrency)
	default:
		add("buyers", s.Buyers)
	}
	if s.Timeout != usual.Timeout {
		add("timeout", s.Timeout)
	}
	return strings.Join(line, " ") + s.Buying.flags() + fmt.Sprintf(" --seed %d", s.Seed)
}

// flags are those of b, each after a space; none if buyers buy at once.
func (b Buying) flags() string {
	flags := ""
	if b.Async {
		flags += " --async"
	}
	if b.Reserve > 0 {
		flags += fmt.Sprintf(" --reserve %s", b.Reserve)
	}
	if b.Forget > 0 {
		flags += fmt.Sprintf(" --forget %s", b.Forget)
	}
	if b.PayLate > 0 {
		flags += fmt.Sprintf(" --pay-late %s", b.PayLate)
	}
	return flags
}
