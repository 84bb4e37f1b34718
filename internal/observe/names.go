package observe

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"seckill/internal/tap"
)

// Names writes what differs from run to run always in the same way: SKUs as 1
// and 2, random values as t1, t2, … and times as time1, time2, … in the order
// in which they come. It is not for several goroutines.
type Names struct {
	skus  *strings.Replacer
	known map[string]string
	count map[string]int
}

// NewNames calls the SKUs 1, 2, ….
func NewNames(skus ...int64) *Names {
	var pairs []string
	for i := len(skus) - 1; i >= 0; i-- { // a later one may begin as an earlier one does
		pairs = append(pairs, strconv.FormatInt(skus[i], 10), strconv.Itoa(i+1))
	}
	return &Names{skus: strings.NewReplacer(pairs...), known: map[string]string{}, count: map[string]int{}}
}

// What is drawn anew in each run: tokens, order numbers, ZooKeeper's and etcd's
// ids; times of day; and the names that Redis gives scripts.
var (
	random = regexp.MustCompile(`\b[A-Z2-7]{26}\b|\bo\d+-(?:time)?\d+-[A-Z2-7]{13}\b|\b\d{19}\b|[0-9a-f]{32}\b|\b[0-9a-f]{15,16}\b|[0-9A-Za-z+/]{22}==|` +
		`\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b`)
	clock = regexp.MustCompile(`\b20\d\d-\d\d-\d\d[ T]\d\d:\d\d:\d\d(\.\d+)?( ?[+-]\d\d:?\d\d| UTC|Z)*( m=[+-][\d.]+)?|\b1[6-9]\d{8}(\d{3}){0,3}\b`)
	sha   = regexp.MustCompile(`\b([0-9a-f]{6})[0-9a-f]{34}\b`)
)

// Plain writes text so that two runs can be compared, and read.
func (n *Names) Plain(text string) string {
	text = n.skus.Replace(text)
	text = sha.ReplaceAllString(text, "$1…")
	text = clock.ReplaceAllStringFunc(text, func(s string) string { return n.name("time", s) })
	return random.ReplaceAllStringFunc(text, func(s string) string { return n.name("t", s) })
}

// Reply is Plain for what a command answered. Numbers that differ from run to
// run (what is left of a lease, a connection's) are left out.
func (n *Names) Reply(c *tap.Command) string {
	if c.Reply == "" || strings.Contains(c.Text, "CONNECTION_ID") {
		return ""
	}
	text := volatile.ReplaceAllString(n.Plain(c.Reply), "…")
	if r := []rune(text); len(r) > longestReply {
		text = string(r[:longestReply]) + "…"
	}
	return text
}

var volatile = regexp.MustCompile(`\b[1-9]\d{3,}\b`)

const longestReply = 160

func (n *Names) name(kind, value string) string {
	if n.known[value] == "" {
		n.count[kind]++
		n.known[value] = fmt.Sprint(kind, n.count[kind])
	}
	return n.known[value]
}

// Describe writes a command with its arguments in their places. Of a wait it
// says what kind it is: its text is a time, or a name.
func Describe(c *tap.Command) string {
	if c.Backend == tap.Waiting {
		return c.Name + ": " + c.Text
	}
	text := c.Text
	for _, arg := range c.Args {
		text = strings.Replace(text, "?", literal(arg), 1)
	}
	if c.Node != "" {
		text = c.Node + ": " + text
	}
	return text
}

func literal(arg any) string {
	switch v := arg.(type) {
	case string:
		return "'" + v + "'"
	case []byte:
		return "'" + string(v) + "'"
	}
	return fmt.Sprint(arg)
}
