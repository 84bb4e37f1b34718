//go:build unix

package e2e

import (
	"encoding/json"
	"net/http"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"seckill/internal/game"
)

// fakeDefence has one guard that holds and one that breaks.
var fakeDefence = game.Defence{Name: "lost-update", Number: 1, Chapter: 1, Setting: fakeSetting("naive", 0), Breaks: []string{"oversold"}, Available: true,
	Code: []string{"num := read()", "if num < wanted {", "    return soldOut", "}", "write(num - wanted)"},
	Choices: []game.Choice{
		{Name: "mutex", Label: map[string]string{"en": "A mutex around the function", "zh": "用互斥锁包起来"},
			Lines: []game.Line{{Mark: "+", Text: "mu.Lock()"}, {Text: "num := read()"}, {Text: "if num < wanted {"}, {Text: "    return soldOut"}, {Text: "}"}, {Text: "write(num - wanted)"}}},
		{Name: "condition", Label: map[string]string{"en": "The condition in the UPDATE", "zh": "条件写进 UPDATE"},
			Lines: []game.Line{{Text: "num := read()"}, {Text: "if num < wanted {"}, {Text: "    return soldOut"}, {Text: "}"}, {Mark: "-", Text: "write(num - wanted)"}, {Mark: "+", Text: "writeIfEnough(wanted)"}}},
	},
	Text: map[string]game.DefenceText{
		"en": {Title: "The lost update", Goal: "Choose the guard with which no schedule oversells.", Hint: "Who sees the number last?"},
		"zh": {Title: "丢失更新", Goal: "选一道防线，让任何调度都不会卖超。", Hint: "谁最后看到这个数字？"}}}

// serveDefences adds the exercise and its attacks, each of which searches for one
// look.
func (g *fakeGames) serveDefences(mux *http.ServeMux) {
	mux.HandleFunc("GET /api/lab/v1/defences", func(w http.ResponseWriter, _ *http.Request) {
		json.NewEncoder(w).Encode(map[string]any{"defences": []game.Defence{fakeDefence}})
	})
	attacks, undecided := map[string]game.Attack{}, false
	mux.HandleFunc("POST /api/lab/v1/attacks", func(w http.ResponseWriter, r *http.Request) {
		g.mu.Lock()
		defer g.mu.Unlock()
		var a game.Attack
		json.NewDecoder(r.Body).Decode(&a)
		if g.wrong != "" {
			refuse(w, http.StatusTooManyRequests, g.wrong)
			return
		}
		a.ID, a.State, a.Rules, a.Preemptions = "ATTACK-"+a.Choice, game.AttackWaits, []string{}, -1
		attacks[a.ID] = a
		w.WriteHeader(http.StatusAccepted)
		json.NewEncoder(w).Encode(a)
	})
	mux.HandleFunc("DELETE /api/lab/v1/attacks/{id}", func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(http.StatusNoContent) })
	mux.HandleFunc("GET /api/lab/v1/attacks/{id}", func(w http.ResponseWriter, r *http.Request) {
		g.mu.Lock()
		defer g.mu.Unlock()
		a := attacks[r.PathValue("id")]
		switch {
		case a.State == game.AttackWaits:
			a.State, a.Schedules = game.AttackSearches, 3
		case a.Choice == "condition" && !undecided:
			undecided = true
			a.State, a.Schedules, a.Seconds = game.AttackUndecided, 9, 45
		case a.Choice == "condition":
			a.State, a.Schedules = game.AttackHeld, 12
			a.Why = map[string]string{"en": "Check and write are one statement.", "zh": "检查和写入是同一条语句。"}
		default:
			a.State, a.Schedules, a.Schedule, a.Moves, a.Switches, a.Rules = game.AttackBroken, 4, "abbbbaaa", 8, 1, []string{"oversold"}
			a.Why = map[string]string{"en": "Each process has a mutex of its own.", "zh": "每个进程各有一把互斥锁。"}
		}
		attacks[a.ID] = a
		json.NewEncoder(w).Encode(a)
	})
}

func TestDefendIsLostAndWonWithTheMouse(t *testing.T) {
	g := startGames(t)
	tb := startBrowser(t).open(g.url+"/#/play", wide)
	tb.says("#defend-title", "Defend")
	tb.click(`[data-defence=lost-update] a`)
	tb.says(".defend h1", "The lost update")
	tb.says("[data-guard=mutex] ins", "mu.Lock()")
	tb.says("[data-guard=condition] del", "write(num - wanted)")
	tb.inEveryLook("defend begins")

	t.Log("a guard that breaks: its counterexample is played")
	tb.click(`[data-guard=mutex] label`)
	tb.click(`.guards .run`)
	tb.says("[data-attack=broken]", "It is broken: Sold more than there were")
	tb.says("[data-attack=broken]", "Each process has a mutex of its own.")
	tb.says(".play-follow", "8 steps to go")
	tb.click(`[data-do=next-step]`)
	tb.moves(1)
	tb.says(".play-follow", "1 step of 8 made")
	tb.wellLaidOut("defend, broken")
	tb.click(`[data-buyer=A] .command-button`)
	tb.moves(2)
	tb.says(".play-follow", "You have left it")
	tb.click(`[data-do=back-to-line]`)
	tb.moves(1)
	tb.click(`[data-do=all-steps]`)
	tb.says(".play-board .banner", "You sold 3 of 2")
	tb.says(".play-follow", "That was all of it")
	tb.inEveryLook("defend broken")
	tb.await(`location.hash.includes("guard=mutex") && location.hash.includes("line=abbbbaaa") && location.hash.includes("s=abbbbaaa")`)

	t.Log("another guard holds, and it is remembered")
	tb.click(`[data-guard=condition] label`)
	tb.await(`!document.querySelector(".play-board")`)
	tb.click(`.guards .run`)
	tb.says("[data-attack=undecided]", "Undecided")
	tb.says("[data-attack=undecided]", "9 schedules were run in 45 s, and none broke it. There are more")
	tb.inEveryLook("defend undecided")
	tb.click(`.guards .run`)
	tb.says("[data-attack=held]", "It held")
	tb.says("[data-attack=held]", "All 12 schedules were run, and none broke it.")
	tb.inEveryLook("defend held")
	tb.click(`.task a[href="#/play"]`)
	tb.await(`document.querySelector("[data-defence=lost-update] .tick") !== null`)
}

func TestDefendWithTheKeyboard(t *testing.T) {
	g := startGames(t)
	tb := startBrowser(t).open(g.url+"/#/play?defend=lost-update", wide)
	tb.says(".defend h1", "The lost update")
	tb.eval(`document.querySelector("[data-guard=mutex] input").focus()`)
	tb.do(chromedp.KeyEvent(" "))
	tb.await(`document.querySelector("[data-guard=mutex] input").checked`)
	tb.do(chromedp.KeyEvent(kb.Enter))
	tb.says("[data-attack=broken]", "It is broken")
	tb.says(".play-follow", "8 steps to go")
	tb.eval(`document.activeElement.blur()`)
	tb.press("nnnn")
	tb.moves(4)
	tb.press("u")
	tb.moves(3)
	tb.press("nnnnn")
	tb.says(".play-board .banner", "You sold 3 of 2")

	t.Log("too many games, and an exercise that is not there")
	tb.forgive("429")
	g.mu.Lock()
	g.wrong = "too_many_games"
	g.mu.Unlock()
	tb.click(`[data-do=attack-hole]`)
	tb.says(".defend [role=status] .wrong", "too_many_games")
	tb.eval(`location.hash = "#/play?defend=nowhere"`)
	tb.says("main [role=alert]", "There is no exercise “nowhere”")
}
