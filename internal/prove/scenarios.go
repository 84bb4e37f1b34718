package prove

import (
	"slices"

	"seckill/internal/explore"
)

// oneUser returns two buyers that act for the same user, and a buyer for each of the other actions.
func (t *trial) oneUser(twice explore.Action, others ...explore.Action) []explore.Buyer {
	all := t.buyers(append([]explore.Action{twice, twice}, others...)...)
	all[1].User = all[0].Name
	return all
}

// newBuyers returns buyers that have a process each, or share one process if processes is 1. Their
// quantities differ, because writing an equal value twice would hide a lost update.
func newBuyers(processes int, does ...explore.Action) []explore.Buyer {
	list := make([]explore.Buyer, len(does))
	for i, d := range does {
		list[i] = explore.Buyer{Name: string(rune('A' + i)), Quantity: int64(2 - i%2), Action: d}
		if processes > 1 {
			list[i].Process = i
		}
	}
	return list
}

func (t *trial) buyers(does ...explore.Action) []explore.Buyer {
	return newBuyers(t.processes, does...)
}

// sale returns a scenario with an actor for each of the actions (see newBuyers). When they are done, one more buyer
// comes (see Scenario.Next).
func (t *trial) sale(name string, stock int64, faults []explore.Fault, does ...explore.Action) *explore.Scenario {
	return newSale(name, stock, faults, t.buyers(does...))
}

// newSale does what trial.sale does, with the given actors.
func newSale(name string, stock int64, faults []explore.Fault, actors []explore.Buyer) *explore.Scenario {
	return &explore.Scenario{Name: name, Stock: stock, Next: true, Buyers: actors, Faults: faults}
}

// twoCopies returns two actors that act on the same order, or send the same request, up to maxRepeats times again.
func (t *trial) twoCopies(maxRepeats int, does explore.Action) []explore.Buyer {
	list := t.buyers(does, does)
	list[1].Same, list[1].Quantity = "A", list[0].Quantity
	for i := range list {
		list[i].Again = maxRepeats
	}
	return list
}

// writeCommands lists the commands with which strategies write to Redis.
var writeCommands = []string{"DECRBY", "DEL", "HDEL", "HSET", "HSETNX", "INCR", "INCRBY", "LPUSH", "PEXPIRE",
	"PUBLISH", "SET", "XACK", "XADD",
	"XAUTOCLAIM", "XDEL", "XGROUP", "XREADGROUP", "ZADD", "ZREM"}

// refusedCommands returns a scenario for each of the given commands that the strategy uses. In the scenario, Redis
// refuses this command once. A strategy without scripts has no such scenarios, because a refused command outside of a
// script changes nothing.
func (t *trial) refusedCommands(name string, of []explore.Buyer, commands ...string) []*explore.Scenario {
	var list []*explore.Scenario
	sent := t.info.RedisCommands()
	for _, command := range commands {
		if slices.Contains(sent, "EVALSHA") && slices.Contains(sent, command) {
			s := newSale(name, 4, []explore.Fault{explore.Refused}, of)
			s.Denies = command
			list = append(list, s)
		}
	}
	return list
}

// sharedTransaction returns a scenario for a strategy whose buyers share a transaction (catalog.Info.Shares). It
// returns nil for other strategies. The first buyer always starts a transaction alone, so it takes three buyers in
// one process for two of them to share one. With two processes, a fourth buyer acts in the other process.
func (t *trial) sharedTransaction(
	name string, stock int64, faults []explore.Fault, processes int, fourth explore.Action,
) *explore.Scenario {
	if !t.info.Shares {
		return nil
	}
	buyers := newBuyers(1, explore.Buys, explore.Buys, explore.Buys)
	if processes > 1 {
		buyers = newBuyers(1, explore.Buys, explore.Buys, explore.Buys, fourth)
		buyers[3].Process = 1
		if fourth == explore.Buys {
			buyers[3].Quantity = 2 // the fourth buyer may want more units than the others leave
		}
	}
	return newSale(name, stock, faults, buyers)
}

// withCopy returns a copy of the scenario s in which the third buyer sends the same request as the buyer with
// the name original. If s is nil, the result is nil.
func withCopy(s *explore.Scenario, original string) *explore.Scenario {
	if s == nil {
		return nil
	}
	c := *s
	c.Name += ", " + original + " twice"
	c.Buyers = slices.Clone(s.Buyers)
	c.Buyers[2].Same, c.Buyers[2].Quantity = original, c.Buyers[original[0]-'A'].Quantity
	return &c
}
