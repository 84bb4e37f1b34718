// Package course contains the chapters of the course, in English and Chinese. They teach lost updates, locks, fencing
// tokens, the choice of a strategy, hot SKUs, locks in libraries, several servers, retries and payment.
//
// A chapter is two Markdown files, such as 01-lost-update.en.md and 01-lost-update.zh.md. Each file has a title
// ("# "), sections ("## "), paragraphs, lists, tables and fenced blocks of commands. The page replaces these lines:
//
//	> figures: COMMAND
//	    the figures that COMMAND has measured or, if there are none, a hint to run it
//	> figures: articles
//	    tables of what five articles about locks say, next to our own results
//	> picture: NAME
//	    a picture that the page draws
//	> drawn: STRATEGY QUESTION breaks RULES
//	    a drawing of the counterexample that breaks these rules
//	> drawn: STRATEGY QUESTION holds
//	    a drawing of a strategy that withstands the same fault
//	> answer: TEXT
//	    the model answer to the question above it; folded on the page, open in print
//	> note: TEXT
//	    a note for teachers, which the slides and the plan show, but not the chapter
package course

import (
	"embed"
	"slices"
	"strings"
)

//go:embed *.md
var files embed.FS

// Languages lists the languages of the course. Every chapter has a text in each of them.
var Languages = []string{"en", "zh"}

// A Chapter is one chapter of the course.
type Chapter struct {
	Name       string            `json:"name"`       // the name of the files without ".en.md", such as "01-lost-update"
	Title      map[string]string `json:"title"`      // the title in each language ("en", "zh")
	Text       map[string]string `json:"text"`       // the Markdown in each language, with the title
	Core       bool              `json:"core"`       // true for a chapter of the one-day course, false for further reading
	Strategies []string          `json:"strategies"` // the strategies that the chapter shows, in this order
	Break      Break             `json:"break"`
}

// A Break is the action of a chapter's "break it" button. If Question is set, the button plays the counterexample
// that `seckill prove` has stored for this strategy and question. Otherwise it starts a run in the lab.
type Break struct {
	Strategy string `json:"strategy"`
	Stock    int    `json:"stock,omitempty"`
	Buyers   int    `json:"buyers,omitempty"`
	Question string `json:"question,omitempty"` // such as "lease-end"
	// Held names a strategy that withstands the same fault. The page plays its trace next to the
	// counterexample. The trace is in web/static/lessons/held.NAME.QUESTION.json.
	Held string `json:"held,omitempty"`
}

func runBreak(strategy string) Break { return Break{Strategy: strategy, Stock: 100, Buyers: 2000} }

func exampleBreak(strategy, question string) Break {
	return Break{Strategy: strategy, Question: question}
}

// chapters lists the chapters in teaching order, without their texts.
var chapters = []Chapter{
	{Name: "01-lost-update", Core: true, Strategies: []string{"naive"}, Break: runBreak("naive")},
	{Name: "02-one-statement", Core: true, Strategies: []string{"atomic", "conditional", "conditional-scan"}, Break: runBreak("atomic")},
	{Name: "03-optimistic", Core: true, Strategies: []string{"version", "timestamp"}, Break: runBreak("timestamp")},
	{Name: "04-row-lock", Core: true, Strategies: []string{"for-update", "for-update-nowait", "for-update-autocommit",
		"for-update-scan"}, Break: runBreak("for-update-autocommit")},
	{Name: "05-mutex", Strategies: []string{"mutex-per-request", "mutex", "mutex-per-sku", "unlock-before-commit"}, Break: runBreak("mutex")},
	{Name: "06-lock-table", Strategies: []string{"lock-insert-plain", "lock-insert-by-name", "lock-insert",
		"lock-table-v1", "lock-table-central", "lock-table-segmented"},
		Break: exampleBreak("lock-insert-by-name", "owner")},
	{Name: "07-session-lock", Strategies: []string{"lock-row", "get-lock", "snapshot-first"},
		Break: exampleBreak("lock-insert", "lease-end")},
	{Name: "08-redis-first", Core: true, Strategies: []string{"redis-get-set", "redis-random-key", "redis-setnx",
		"redis-setnx-expire", "redis-setex", "redis-setnx-timestamp", "redis-getset", "redis-set-nx-px"},
		Break: exampleBreak("redis-setnx-expire", "dead-holder")},
	{Name: "09-redis-owner", Core: true, Strategies: []string{"redis-renew", "redis-token", "redis-lua", "redis-multi-lock",
		"redis-registry", "redis-watchdog", "redis-blpop", "redsync"},
		Break: exampleBreak("redis-token", "owner")},
	{Name: "10-two-systems", Core: true, Strategies: []string{"redis-counter", "redis-multi", "mysql-counter",
		"redis-lock-mysql", "redis-counter-mysql"},
		Break: exampleBreak("redis-counter", "dead-holder")},
	{Name: "11-fencing", Core: true, Strategies: []string{"zk", "zk-norecheck", "etcd", "redis-fenced", "zk-fenced", "etcd-fenced"},
		Break: Break{Strategy: "zk", Question: "lease-end", Held: "zk-fenced"}},
	{Name: "12-which", Core: true, Strategies: []string{"conditional", "version", "for-update", "redis-counter-mysql", "zk",
		"etcd", "redis-lua"}, Break: exampleBreak("redis-lua", "lease-end")},
	{Name: "13-hot-sku", Strategies: []string{"order-first", "one-trip", "queued", "merged", "merged-early"}, Break: exampleBreak("merged-early", "dead-holder")},
	{Name: "14-splitting-the-stock", Strategies: []string{"bucketed", "bucketed-hasty", "unit-rows", "unit-rows-hasty"}, Break: exampleBreak("unit-rows-hasty", "sold-out")},
	{Name: "15-accept-first", Strategies: []string{"redis-stream-two-calls", "redis-stream", "reserve-late", "reserve"},
		Break: exampleBreak("redis-stream-two-calls", "dead-holder")},
	{Name: "16-in-your-language", Strategies: []string{"redis-watchdog", "redis-registry", "zk", "redis-blpop", "redsync", "redlock"},
		Break: exampleBreak("redis-registry", "lease-end")},
	{Name: "17-more-than-one-node", Strategies: []string{"conditional", "version", "for-update", "lock-insert", "get-lock", "lock-row"},
		Break: exampleBreak("lock-insert", "lease-end")},
	{Name: "18-several-redis", Strategies: []string{"redis-counter", "redis-lua", "redis-counter-mysql", "redis-fenced", "redlock"},
		Break: exampleBreak("redis-counter", "node-loss")},
	{Name: "19-servers-that-agree", Strategies: []string{"redlock", "zk", "zk-norecheck", "zk-herd", "zk-node", "etcd", "etcd-node"},
		Break: exampleBreak("zk-norecheck", "dead-holder")},
	{Name: "20-exactly-once", Strategies: []string{"redis-counter", "redis-counter-mysql", "redis-stream", "conditional"},
		Break: exampleBreak("redis-counter", "same-key")},
	{Name: "21-reservations-and-payment", Strategies: []string{"reserve", "reserve-late"},
		Break: exampleBreak("reserve-late", "cancel")},
}

// Chapters returns the chapters in teaching order.
func Chapters() []Chapter {
	all := slices.Clone(chapters)
	for i := range all {
		c := &all[i]
		c.Title, c.Text = map[string]string{}, map[string]string{}
		for _, language := range Languages {
			text, err := files.ReadFile(c.Name + "." + language + ".md")
			if err != nil {
				panic(err) // this cannot happen, because the chapters are embedded and tests read all of them
			}
			title, _, _ := strings.Cut(string(text), "\n")
			c.Title[language], c.Text[language] = strings.TrimPrefix(title, "# "), string(text)
		}
	}
	return all
}
