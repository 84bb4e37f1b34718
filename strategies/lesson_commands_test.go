package strategies_test

import (
	"crypto/sha1"
	"encoding/hex"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"seckill/internal/catalog"
	"seckill/internal/explore"
	"seckill/internal/lab/labtest"
	"seckill/internal/seckill"
	"seckill/internal/tap"
	"seckill/strategies"
	"seckill/strategies/saletest"
)

// Lessons whose commands are not those of one purchase.
var showsNoPurchase = map[string]string{
	"mutex-per-request": "its mutex in Go; what follows is naive's",
	"mutex-per-sku":     "its mutex in Go; what follows is naive's",
	"merged":            "a batch of three buyers",
	"merged-early":      "a batch of three buyers",
	"unit-rows-hasty":   "a purchase that is refused",
	"reserve-late":      "a sweeper",
}

// Fenced blocks, counted from 0, of other things than the buyer's own commands.
var otherBlocks = map[string][]int{
	"redis-lua": {1}, // the script
	"one-trip":  {1}, // the procedure
	"queued":    {1}, // the line in the process
	"bucketed":  {1}, // a bucket is short
	"unit-rows": {1}, // too few units are free
}

// Lessons that leave commands out and say whose they are.
var leavesOut = map[string]string{
	"bucketed-hasty":         "bucketed",
	"redis-stream-two-calls": "redis-stream",
	"reserve":                "order-first, and what reads a reservation",
}

// Lessons list further commands, which a buyer who is alone does not send: how each begins, and when it is sent.
var sentOtherwise = map[string]map[string]string{
	"lock-insert-by-name":   {"delete from distributed_lock where name = seckill:lock:stock:# and expire": "the name is taken"},
	"lock-insert":           {"update distributed_lock": "the row has expired"},
	"lock-row":              {"insert ignore into lock_row": "once per name"},
	"redis-renew":           {"pexpire": "a third of the lease is over"},
	"redis-setnx-timestamp": {"del": "the lock has expired"},
	"redis-getset":          {"get ": "the lock is taken", "getset": "the lock has expired"},
	"redis-watchdog": {"subscribe": "the lock is taken",
		"evalsha watchdog_renew": "a third of the lease is over"},
	"redis-blpop": {"blpop": "the lock is taken", "set": "after the wait",
		"evalsha compare_and_extend": "two thirds of the lease are over"},
	"redis-counter": {"evalsha give_back": "the buyer is refused"},
	"zk":            {"get -w": "another is first"},
	"zk-norecheck":  {"get -w": "another is first"},
	"zk-herd":       {"ls -w": "at every change"},
	"zk-node":       {"get -w": "the node is there", "create -e": "the node has gone"},
	"etcd":          {"leasegrant": "once per process", "watch": "another is first", "txn": "told of a change"},
	"etcd-node":     {"leasegrant": "once per process", "watch": "the key is there"},
}

// A lesson lists the commands that its strategy sends: a recorded purchase without competitors sends these commands in
// this order, and no others. Both languages list the same.
func TestLessonsListWhatIsSent(t *testing.T) {
	for _, info := range strategies.All() {
		t.Run(info.Name, func(t *testing.T) {
			en, zh := listed(t, info, "en"), listed(t, info, "zh")
			labtest.Same(t, strings.Join(zh, "\n\t"), strings.Join(en, "\n\t"), "the Chinese commands, and the English")
			if showsNoPurchase[info.Name] != "" {
				return
			}
			sends := sent(t, info)
			if problem := differ(en, sends, sentOtherwise[info.Name], leavesOut[info.Name] != ""); problem != "" {
				t.Errorf("%s\nlisted:\n\t%s\nsent:\n\t%s", problem, strings.Join(en, "\n\t"),
					strings.Join(sends, "\n\t"))
			}
		})
	}
}

// differ says where the lists part, or "". A listed command that is not sent
// must begin as one of otherwise does; if partly, sent ones may be missing.
func differ(listed, sends []string, otherwise map[string]string, partly bool) string {
	used := map[string]bool{}
	for _, l := range listed {
		for partly && len(sends) > 0 && !matches(l, sends[0]) {
			sends = sends[1:]
		}
		if len(sends) > 0 && matches(l, sends[0]) {
			sends = sends[1:]
			continue
		}
		excused := false
		for begin := range otherwise {
			if strings.HasPrefix(l, begin) {
				excused, used[begin] = true, true
			}
		}
		if !excused {
			next := "nothing more"
			if len(sends) > 0 {
				next = fmt.Sprintf("%q", sends[0])
			}
			return fmt.Sprintf("listed is %q, sent is %s", l, next)
		}
	}
	if len(sends) > 0 && !partly {
		return fmt.Sprintf("sent and not listed: %q", sends)
	}
	for begin := range otherwise {
		if !used[begin] {
			return fmt.Sprintf("sentOtherwise has %q, and it is not needed", begin)
		}
	}
	return ""
}

// matches reports whether a listed command, in which … is anything, was sent.
func matches(listed, sent string) bool {
	pattern := strings.ReplaceAll(regexp.QuoteMeta(listed), "…", ".*")
	return regexp.MustCompile("^" + pattern + "$").MatchString(sent)
}

// guarded are the steps that locks protect.
var guarded = []string{"select num, run from stock where id = #", "begin",
	"update stock set num = # where id = #", "insert into orders …", "commit"}

// listed are the commands that a lesson lists, in the words of plain.
func listed(t *testing.T, info catalog.Info, language string) (list []string) {
	t.Helper()
	text := labtest.Value(info.Lesson(language)).Must(t)
	_, text, _ = strings.Cut(text, "\n## "+sections[language][1]+"\n")
	text, _, _ = strings.Cut(text, "\n## ")
	for i, block := range strings.Split(text, "```") {
		kind, body, _ := strings.Cut(block, "\n")
		if i%2 == 0 || kind == "go" || kind == "lua" && !slices.Contains(otherBlocks[info.Name], i/2) ||
			slices.Contains(otherBlocks[info.Name], i/2) {
			continue
		}
		body = regexp.MustCompile(`(?m)--( .*)?$`).ReplaceAllString(body, "")
		var commands []string
		if kind != "sql" {
			commands = lines(body)
		} else {
			commands = strings.Split(regexp.MustCompile(`(?m)^….*…$`).ReplaceAllString(body, "$0;"), ";")
		}
		for _, c := range commands {
			switch c = plain(c); {
			case c == "":
			case strings.HasPrefix(c, "…"):
				list = append(list, guarded...)
			default:
				list = append(list, c)
			}
		}
	}
	return list
}

// lines returns the commands of a block with one command on each line. Text that is indented,
// in brackets, or behind two spaces or an arrow is an explanation and left out.
func lines(block string) (list []string) {
	for _, l := range strings.Split(block, "\n") {
		if l == "" || l[0] == ' ' || strings.HasPrefix(l, "(") || strings.HasPrefix(l, "（") ||
			strings.HasPrefix(l, "…") && !regexp.MustCompile("write|写").MatchString(l) {
			continue
		}
		l, _, _ = strings.Cut(l, "→")
		l = regexp.MustCompile(`^(\w+(?: -\w)*) +`).ReplaceAllString(l, "$1 ") // verbs are aligned
		l, _, _ = strings.Cut(l, "  ")
		list = append(list, strings.TrimSuffix(strings.TrimSpace(l), ";"))
	}
	return list
}

// sent returns the commands of a purchase without competitors. Of strategies with reservations
// it returns those of a reservation, of its payment, and of the cancellation of another one.
func sent(t *testing.T, info catalog.Info) (list []string) {
	t.Helper()
	h := saletest.Open(t, info, 100, catalog.Deps{Settings: catalog.DefaultSettings()})
	h.SKU += 8_200_000_000 // digits that no other number in a command has
	h.Reset(t, 100)
	// The first purchase loads the scripts and makes the keys and nodes that are made once.
	labtest.Value(h.Buy(t.Context(), 1, 2)).Must(t)
	h.Reset(t, 100)
	p := seckill.Purchase{SKU: h.SKU, User: 42, Quantity: 2, RequestID: "r1"}
	never := func(int, *tap.Command) bool { return false }
	record := explore.NewGate(explore.NewRecorder(explore.NewNormalizer(h.SKU)), "", never)
	ctx := tap.With(t.Context(), record)
	if r, ok := h.Processes[0].(seckill.Reserver); ok {
		a := labtest.Value(r.Reserve(ctx, p, time.Minute)).Must(t)
		labtest.Must(t, r.Pay(ctx, a.OrderID))
		p.User, p.RequestID = 43, "r2"
		b := labtest.Value(r.Reserve(t.Context(), p, time.Minute)).Must(t)
		labtest.Must(t, r.Release(ctx, b.OrderID))
	} else if _, err := h.Processes[0].Deduct(ctx, p); err != nil {
		t.Fatal(err)
	}
	scripts := scriptNames(t)
	all, _ := record.Snapshot()
	for _, s := range all {
		if s.Background || s.Backend == tap.Waiting {
			continue
		}
		for _, c := range spoken(s.Text, s.Command, scripts) {
			if s.Command.Node == "" || !slices.Contains(list, c) { // of like nodes, one: some are later
				list = append(list, c)
			}
		}
	}
	return list
}

// spoken is a recorded command in the lessons' words; of Redis' commands that
// are sent together, each.
func spoken(text string, c *tap.Command, scripts map[string]string) []string {
	text = strings.TrimPrefix(text, c.Node+": ")
	words := strings.Fields(text)
	switch c.Backend {
	case tap.Redis:
		if strings.EqualFold(words[0], "evalsha") {
			if name := scripts[strings.TrimSuffix(words[1], "…")]; name != "" {
				words[1] = name
			} else {
				words[1] = "delete-if-equal" // redsync's own script
			}
			return []string{plain(strings.Join(words, " "))}
		}
		// Whole seconds are sent as EX, as redis-set-nx-px says.
		text = plain(regexp.MustCompile(`(?i) ex (\d+)(?: (nx))?`).ReplaceAllString(text, " $2 px ${1}000"))
		return strings.Split(text, "; ")
	case tap.ZooKeeper:
		flags := map[string]string{"ephemeral": "-e", "sequential": "-s", "watch": "-w"}
		names := map[string]string{"getChildren": "ls", "getData": "get", "exists": "stat"}
		verb := words[0]
		if n := names[verb]; n != "" {
			verb = n
		}
		for _, w := range words[2:] {
			verb += " " + flags[w]
		}
		text = verb + " " + words[1]
		if strings.HasSuffix(text, ".node") && words[0] == "create" {
			text += " <guid>" // what it is given is not recorded
		}
	case tap.Etcd:
		text = regexp.MustCompile(`t\d+-\d+`).ReplaceAllString(text, "<me>")
	}
	return []string{plain(text)}
}

// scriptNames are the strategies' Lua files by the start of their names in Redis.
func scriptNames(t *testing.T) map[string]string {
	names := map[string]string{}
	for _, info := range strategies.All() {
		for _, f := range info.Also {
			text := labtest.Value(info.Files.ReadFile(f)).Must(t)
			undo, _ := info.Files.ReadFile("undo.lua") // which may come before it
			for _, script := range [][]byte{text, append(undo, text...)} {
				sum := sha1.Sum(script)
				names[hex.EncodeToString(sum[:])[:6]] = strings.TrimSuffix(path.Base(f), ".lua")
			}
		}
	}
	return names
}

var (
	drawn  = regexp.MustCompile(`(^|[^a-z0-9])(t|time)\d+|<\pL[\pL +_-]*>|\?|\d+`)
	date   = regexp.MustCompile(`#-#-# #:#:#`)
	spaces = regexp.MustCompile(`\s+`)
	alias  = regexp.MustCompile(`\b[a-z]\.([a-z])`)
)

// plain writes commands alike: in small letters, every number and drawn value
// as #, without quotes, names of tables' stand-ins and spaces that do not matter.
func plain(c string) string {
	c = strings.ToLower(strings.NewReplacer("'", "", `"`, "", "`", "").Replace(c))
	c = drawn.ReplaceAllString(c, "${1}#")
	c = strings.ReplaceAll(c, "……", "…")
	c = date.ReplaceAllString(c, "#")
	c = alias.ReplaceAllString(c, "$1")
	c = spaces.ReplaceAllString(c, " ")
	c = strings.NewReplacer("( ", "(", " )", ")").Replace(c)
	return strings.TrimSpace(c)
}
