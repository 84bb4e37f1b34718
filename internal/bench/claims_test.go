package bench

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

// Every sentence of the articles that the lab answers is there, with a figure
// or a proof and a command, whatever was measured of it.
func TestClaims(t *testing.T) {
	proof := func(strategy, question string) string {
		switch {
		case strategy == "redis-counter" && question == "lost-reply", strategy == "zk" && question == "lease-end":
			return "✗"
		case question == "dead-holder":
			return "✓ after 2.0 s"
		}
		return "✓"
	}
	for _, proof := range []Proof{proof, nil} {
		c := Claims{Report: &Report{}, Proof: proof, Polls: []Setting{{Poll: 1}, {Poll: 50}}, Leases: []Setting{{Lease: 2.5}}}
		c.Judge(5 * time.Millisecond)
		articles := map[string]int{}
		for _, x := range c.All {
			articles[x.Article]++
			if x.Says == "" || x.Run == "" || !strings.HasPrefix(x.Command, "seckill ") {
				t.Errorf("%+v", x)
			}
		}
		// A: three; B: the experiment and the four choices, by two measures; D: speed alone and in a crowd, and five more
		// rows; E: two.
		if articles["A"] != 3 || articles["B"] != 3 || articles["D"] != 7 || articles["E"] != 2 {
			t.Errorf("%v", articles)
		}
		all := slices.Collect(func(yield func(string) bool) {
			for _, x := range c.All {
				if !yield(x.Run) {
					return
				}
			}
		})
		text := strings.Join(all, "\n")
		want := []string{"the end of a lease under its holder: redis-lua ✓, redis-watchdog ✓, zk ✗", "redis-lua ✓ after 2.0 s",
			"redis-counter by a lost reply; mysql-counter by nothing"}
		if proof == nil {
			want = []string{"zk not proven"}
		}
		for _, w := range want {
			if !strings.Contains(text, w) {
				t.Errorf("%q is not in\n%s", w, text)
			}
		}
	}
}

func TestProseKeepsToItsWidth(t *testing.T) {
	long := strings.Repeat("words and more ", 30)
	var b bytes.Buffer
	if err := WriteText(&b, []Table{{Title: "Words", Head: []string{"article", "says", "this run", command}, Prose: true,
		Rows: [][]string{{"A", long, long, "seckill " + strings.Repeat("x", 200)}}, Notes: []string{long}}}); err != nil {
		t.Fatal(err)
	}
	for _, line := range strings.Split(b.String(), "\n") {
		if utf8.RuneCountInString(line) > proseWidth && !strings.HasPrefix(line, "     $ seckill x") {
			t.Errorf("%d columns: %q", utf8.RuneCountInString(line), line)
		}
	}
	if n := strings.Count(strings.Join(strings.Fields(b.String()), " "), "words and more"); n != 90 {
		t.Errorf("%d of 90 words are there", n)
	}
}
