package explore

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"seckill/internal/tap"
)

// A Normalizer replaces the parts of a text that differ from run to run, so that two
// runs can be compared: SKUs become 1 and 2, random values t1, t2, … and times time1,
// time2, … in order of appearance. It is not safe for concurrent use.
type Normalizer struct {
	skus  *strings.Replacer
	known map[string]string
	count map[string]int
	// hashes has the digits of each number with which markHash was called.
	hashes []string
}

// NewNormalizer returns a Normalizer that replaces the first of skus by 1, the second by 2, and so on.
func NewNormalizer(skus ...int64) *Normalizer {
	var pairs []string
	// The last SKU comes first, because it may begin with the digits of an earlier one.
	for i := len(skus) - 1; i >= 0; i-- {
		pairs = append(pairs, strconv.FormatInt(skus[i], 10), strconv.Itoa(i+1))
	}
	return &Normalizer{skus: strings.NewReplacer(pairs...), known: map[string]string{}, count: map[string]int{}}
}

// These expressions match values that differ in each run. randomValue matches tokens, order numbers, and ids of
// ZooKeeper and etcd. clockTime matches times of day, and scriptSHA the hashes by which Redis names scripts.
var (
	randomValue = regexp.MustCompile(`\b[A-Z2-7]{26}\b|\bo\d+-(?:time)?\d+-[A-Z2-7]{13}\b|\b\d{19}\b|[0-9a-f]{32}\b|\b[0-9a-f]{15,16}\b|[0-9A-Za-z+/]{22}==|` +
		`\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b`)
	clockTime = regexp.MustCompile(`\b20\d\d-\d\d-\d\d[ T]\d\d:\d\d:\d\d(\.\d+)?( ?[+-]\d\d:?\d\d| UTC|Z)*( m=[+-][\d.]+)?|\b1[6-9]\d{8}(\d{3}){0,3}\b`)
	scriptSHA = regexp.MustCompile(`\b([0-9a-f]{6})[0-9a-f]{34}\b`)
)

// markHash makes Normalize treat number as a random value, and thus replace it by t1, t2, …. Normalize recognises
// most random numbers by their 19 digits, but a hash may have fewer digits, or look like a time.
func (n *Normalizer) markHash(number int64) {
	n.hashes = append(n.hashes, strings.TrimPrefix(strconv.FormatInt(number, 10), "-"))
}

// Normalize returns text with SKUs, times, random values and script hashes replaced.
func (n *Normalizer) Normalize(text string) string {
	for i, digits := range n.hashes { // replace the digits by 26 letters, which randomValue matches
		text = strings.ReplaceAll(text, digits, strings.Repeat(string(rune('A'+i)), 26))
	}
	text = n.skus.Replace(text)
	text = scriptSHA.ReplaceAllString(text, "$1…")
	text = clockTime.ReplaceAllStringFunc(text, func(s string) string { return n.nameFor("time", s) })
	return randomValue.ReplaceAllStringFunc(text, func(s string) string { return n.nameFor("t", s) })
}

// NormalizeReply returns the normalized reply of c, cut after maxReplyRunes. Numbers that
// differ from run to run, such as the rest of a lease or a connection's id, become "…".
func (n *Normalizer) NormalizeReply(c *tap.Command) string {
	if c.Reply == "" || strings.Contains(c.Text, "CONNECTION_ID") {
		return ""
	}
	text := volatileNumber.ReplaceAllString(n.Normalize(c.Reply), "…")
	if r := []rune(text); len(r) > maxReplyRunes {
		text = string(r[:maxReplyRunes]) + "…"
	}
	return text
}

var volatileNumber = regexp.MustCompile(`\b[1-9]\d{3,}\b`)

const maxReplyRunes = 160

func (n *Normalizer) nameFor(kind, value string) string {
	if n.known[value] == "" {
		n.count[kind]++
		n.known[value] = fmt.Sprint(kind, n.count[kind])
	}
	return n.known[value]
}

// DescribeCommand returns the text of c with its arguments in place of the placeholders. The text of a wait is only a
// duration or a name, so DescribeCommand puts the command's name before the text.
func DescribeCommand(c *tap.Command) string {
	if c.Backend == tap.Waiting {
		return c.Name + ": " + c.Text
	}
	text := c.Text
	for _, arg := range c.Args {
		text = strings.Replace(text, "?", formatArgument(arg), 1)
	}
	if c.Node != "" {
		text = c.Node + ": " + text
	}
	return text
}

func formatArgument(arg any) string {
	switch v := arg.(type) {
	case string:
		return "'" + v + "'"
	case []byte:
		return "'" + string(v) + "'"
	}
	return fmt.Sprint(arg)
}
