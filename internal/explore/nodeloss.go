package explore

import (
	"strings"

	"seckill/internal/tap"
)

// NodeLost is no fault of the explorer's: it takes more servers than a World
// has. Package prove lets a node be lost at one moment, and tells of it in the
// same words.
const NodeLost Fault = "a node is lost"

// Describe writes a command with its arguments in their places.
func Describe(c *tap.Command) string {
	text := c.Text
	for _, arg := range c.Args {
		text = strings.Replace(text, "?", literal(arg), 1)
	}
	if c.Node != "" {
		text = c.Node + ": " + text
	}
	return text
}

// Anonymous writes sku as 1, and random tokens as t1, t2, … in the order in
// which they come. tokens remembers those that came.
func Anonymous(text string, sku int64, tokens map[string]string) string {
	w := World{sku: sku, tokens: tokens}
	return w.anonymous(text)
}
