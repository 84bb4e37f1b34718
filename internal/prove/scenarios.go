package prove

import (
	"slices"

	"seckill/internal/explore"
)

// oneUser returns two buyers who are one user, and others.
func oneUser(processes int, twice explore.Does, others ...explore.Does) []explore.Buyer {
	all := newBuyers(processes, append([]explore.Does{twice, twice}, others...)...)
	all[1].User = all[0].Name
	return all
}

// oneKey returns two users whose requests have the same key: two requests.
func oneKey(processes int) []explore.Buyer {
	all := twoCopies(processes, 1, explore.Asks)
	all[1].User = all[1].Name
	return all
}

// newBuyers returns buyers of a scenario, each in a process of its own or all in one. Their
// quantities differ: writing an equal value twice would hide a lost update.
func newBuyers(processes int, does ...explore.Does) []explore.Buyer {
	list := make([]explore.Buyer, len(does))
	for i, d := range does {
		list[i] = explore.Buyer{Name: string(rune('A' + i)), Quantity: int64(2 - i%2), Does: d}
		if processes > 1 {
			list[i].Process = i
		}
	}
	return list
}

// twoCopies returns two actors with one order, or one request, between them.
func twoCopies(processes, again int, does explore.Does) []explore.Buyer {
	list := newBuyers(processes, does, does)
	list[1].Same, list[1].Quantity = "A", list[0].Quantity
	for i := range list {
		list[i].Again = again
	}
	return list
}

// written are the commands that change something in Redis.
var written = []string{"DECRBY", "DEL", "HDEL", "HSET", "HSETNX", "INCR", "INCRBY", "LPUSH", "PEXPIRE",
	"PUBLISH", "SET", "XACK", "XADD",
	"XAUTOCLAIM", "XDEL", "XGROUP", "XREADGROUP", "ZADD", "ZREM"}

// refusedCommands returns a scenario for each command, in which Redis refuses it to a
// strategy that has scripts. A command that is refused outside of a script changes nothing:
// strategies without scripts have no such scenario.
func (t *trial) refusedCommands(name string, of []explore.Buyer, commands ...string) (list []*explore.Scenario) {
	sent := t.info.RedisCommands()
	for _, command := range commands {
		if slices.Contains(sent, "EVALSHA") && slices.Contains(sent, command) {
			list = append(list, &explore.Scenario{Name: name, Stock: 4, Next: true, Buyers: of,
				Faults: []explore.Fault{explore.Refused}, Denies: command})
		}
	}
	return list
}

// sharedTransactions returns further scenarios for a strategy whose buyers share a transaction
// (catalog.Info.Shares). Two buyers never do: the first goes ahead at once. So
// three are in one process, where the second and the third share, and with two
// processes a fourth does something beside them. Other strategies have none.
func (t *trial) sharedTransactions(processes int, fourth explore.Does, s explore.Scenario) []*explore.Scenario {
	if !t.info.Shares {
		return nil
	}
	s.Next = true
	s.Buyers = newBuyers(1, explore.Buys, explore.Buys, explore.Buys)
	if processes > 1 {
		s.Buyers = newBuyers(1, explore.Buys, explore.Buys, explore.Buys, fourth)
		s.Buyers[3].Process = 1
		if fourth == explore.Buys {
			s.Buyers[3].Quantity = 2 // more than the batch may leave
		}
	}
	return []*explore.Scenario{&s}
}

// withCopies returns the same scenarios once more. The third buyer is a copy of another.
func withCopies(scenarios []*explore.Scenario, of string) (copies []*explore.Scenario) {
	for _, s := range scenarios {
		c := *s
		c.Name += ", " + of + " twice"
		c.Buyers = append([]explore.Buyer(nil), s.Buyers...)
		c.Buyers[2].Same, c.Buyers[2].Quantity = of, c.Buyers[of[0]-'A'].Quantity
		copies = append(copies, &c)
	}
	return copies
}
