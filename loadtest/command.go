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
	return strings.Join(line, " ") + s.BuyingFlags() + fmt.Sprintf(" --seed %d", s.Seed)
}

// BuyingFlags are the flags that say how the buyers of s buy, each after a space;
// none if they buy at once.
func (s Scenario) BuyingFlags() string {
	flags := ""
	if s.Async {
		flags += " --async"
	}
	if s.Reserve > 0 {
		flags += fmt.Sprintf(" --reserve %s", s.Reserve)
	}
	if s.Forget > 0 {
		flags += fmt.Sprintf(" --forget %s", s.Forget)
	}
	if s.PayLate > 0 {
		flags += fmt.Sprintf(" --pay-late %s", s.PayLate)
	}
	return flags
}
