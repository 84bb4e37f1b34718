package bench

import (
	"fmt"
	"strings"
)

// A Proof is what the guarantee matrix answers to a question about a strategy:
// ✓, ✗ or – and the time after which the next got through, or what was seen.
// Empty: the matrix does not say.
type Proof func(strategy, question string) string

// about answers a question for one strategy after the other.
func (p Proof) about(question string, strategies ...string) string {
	var all []string
	for _, s := range strategies {
		answer := p(s, question)
		if answer == "" {
			answer = "not proven"
		}
		all = append(all, s+" "+answer)
	}
	return strings.Join(all, ", ")
}

// breaks names the questions whose answer is no.
func (p Proof) breaks(strategy string) string {
	var all []string
	for _, q := range []struct{ id, title string }{
		{"oversell", "two buyers"}, {"lost-update", "lost update"}, {"processes", "two processes"}, {"dead-holder", "a dead holder"},
		{"lease-end", "the end of a lease"}, {"clocks", "clocks"}, {"lost-reply", "a lost reply"}, {"node-loss", "the loss of a node"},
	} {
		if strings.HasPrefix(p(strategy, q.id), "✗") {
			all = append(all, q.title)
		}
	}
	if all == nil {
		return strategy + " by nothing"
	}
	return strategy + " by " + strings.Join(all, ", ")
}

// The locks that D's table speaks of: Redis, ZooKeeper, and the database by a
// locked row and by an inserted one.
var ofD = []string{"redis-lua", "redis-watchdog", "zk", "lock-row", "lock-insert"}

func proving(questions string, strategies ...string) string {
	return fmt.Sprintf("seckill prove --strategies %s --questions %s", strings.Join(strategies, ","), questions)
}

// proven are the articles' words that no stop-watch answers. Of the six rows of
// D's table the first, speed, is not among them.
func (c *Claims) proven() []Claim {
	if c.Proof == nil {
		c.Proof = func(string, string) string { return "" }
	}
	plain := append(ofD[:len(ofD):len(ofD)], "lock-insert-plain")
	four := []string{"redis-counter", "mysql-counter", "redis-counter-mysql", "redis-lock-mysql"}
	var breaks []string
	for _, s := range four {
		breaks = append(breaks, c.Proof.breaks(s))
	}
	return []Claim{
		{"D", "reliability: ZooKeeper > cache > database",
			"a dead holder: " + c.Proof.about("dead-holder", ofD...) + "; the end of a lease under its holder: " +
				c.Proof.about("lease-end", ofD...) + "; the loss of a node: " + c.Proof.about("node-loss", ofD...),
			proving("dead-holder,lease-end,node-loss", ofD...)},
		{"D", "expiry: by itself in Redis; by hand in ZooKeeper and with an inserted row; with its transaction for a locked row",
			"after a holder's death the next gets through: " + c.Proof.about("dead-holder", plain...), proving("dead-holder", plain...)},
		{"D", "a queue of those who wait: none in Redis and with an inserted row; ZooKeeper and a locked row have one",
			"how they wait: " + c.Proof.about("waits", ofD...) + "; whose turn it is: " + c.Proof.about("order", ofD...),
			proving("waits,order", ofD...)},
		{"D", "work that takes longer than the time limit: Redis must renew; the others have no such problem",
			"the lock ends under its holder, and nothing is lost: " + c.Proof.about("lease-end", ofD...), proving("lease-end", ofD...)},
		{"D", "a lock that is not freed after a failure: expires in Redis, goes with the session or the transaction; an inserted row stays",
			"the process dies at any command: " + c.Proof.about("dead-holder", plain...) + "; a reply is lost: " +
				c.Proof.about("lost-reply", plain...), proving("dead-holder,lost-reply", plain...)},
		{"B", "four choices by consistency: Redis has none; MySQL, and both together, have it",
			"broken: " + strings.Join(breaks, "; "), "seckill prove --strategies " + strings.Join(four, ",")},
		{"B", "the same choices by concurrency: Redis for many, MySQL for few, both for many", "purchases, not locks: measured by the service",
			"seckill compare --strategies lock-table-segmented,mysql-counter,redis-counter,redis-counter-mysql,redis-lock-mysql --few 2 --concurrency 64"},
	}
}
