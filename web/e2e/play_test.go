package e2e

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// moves waits until a game stands after so many moves.
func (tb *tab) moves(n int) {
	tb.t.Helper()
	tb.await(fmt.Sprintf(`document.querySelector(".play [data-moves]")?.dataset.moves === "%d"`, n))
}

// press presses keys one after the other; each is a move of the game.
func (tb *tab) press(keys string) {
	tb.t.Helper()
	for _, key := range keys {
		tb.do(chromedp.KeyEvent(string(key)))
	}
}

func TestLevelIsSolvedWithTheKeyboard(t *testing.T) {
	g := startGames(t)
	b := startBrowser(t)
	tb := b.open(g.url+"/#/play/first", wide)
	tb.says(`[data-buyer=A] .command-button`, "SELECT")
	tb.press("ab")
	tb.moves(2)
	tb.says(".play [role=status]", "B: SELECT num, num = 2")
	tb.press("u")
	tb.moves(1)
	tb.says(".play [role=status]", "Taken back. 1 move so far.")
	tb.press("bbbbaaa") // faster than the lab: none is lost
	tb.says(".play-ending .banner", "You sold 3 of 2")
	tb.await(`location.hash === "#/play/first?s=abbbbaaa"`)

	t.Log("the arrows look back, and change nothing")
	for range 3 {
		tb.do(chromedp.KeyEvent(kb.ArrowLeft))
	}
	tb.says(".looking", "You look at step 5 of 8")
	tb.await(`document.querySelector(".state .number").dataset.num === "1"`)
	tb.do(chromedp.KeyEvent(kb.ArrowRight))
	tb.says(".looking", "step 6 of 8")
	tb.click(".looking .link")
	tb.await(`!document.querySelector(".looking")`)
	tb.moves(8)

	t.Log("elsewhere, the address leads to the same state")
	tb.eval(`navigator.clipboard.writeText = async (text) => { window.copied = text; }`)
	tb.press("uuu")
	tb.moves(5)
	tb.click(`.play-tools .copy button`)
	tb.says(".play-tools .copy", "Copied")
	link, err := chromedp.Run(tb.ctx, chromedp.Evaluate[string](`window.copied`))
	if err != nil || !strings.HasSuffix(link, "#/play/first?s=abbbb") {
		t.Fatalf("the link is %q, %v", link, err)
	}
	state := `[...document.querySelectorAll(".buyer-column, .course .steps, .play-state")].map((e) => e.innerText).join("\n")`
	want, err := chromedp.Run(tb.ctx, chromedp.Evaluate[string](state))
	if err != nil {
		t.Fatal(err)
	}
	other := startBrowser(t).open(link, wide)
	other.moves(5)
	other.await(fmt.Sprintf(`%s === %q`, state, want))

	t.Log("a link that is wrong")
	tb.forgive("400")
	tb.eval(`location.hash = "#/play/first?s=abx"`)
	tb.says("[data-failure=schedule]", "do not fit this game")
	tb.click("[data-failure=schedule] button")
	tb.moves(0)
	tb.eval(`location.hash = "#/play/nowhere"`)
	tb.says("main [role=alert]", "There is no level “nowhere”")
}

func TestImpossibleIsAnAnswer(t *testing.T) {
	g := startGames(t)
	tb := startBrowser(t).open(g.url+"/#/play/first", wide)
	tb.click(`[data-do=impossible]`)
	tb.says(".graded", "It can be done. The game goes on.")
	tb.eval(`location.hash = "#/play/safe"`)
	tb.says(".task h1", "Locked from the read on")
	tb.says(".play-budget", "1 of 1 fault left")
	tb.press("a")
	tb.await(`document.querySelector("[data-buyer=B]").dataset.state === "waits"`)
	tb.says(`[data-buyer=B] .command-button`, "waits for the lock X,REC_NOT_GAP on stock, index PRIMARY")
	tb.says(`[data-buyer=B] .command-button`, "A has it")
	tb.says(`.play [role=status]`, "B waits: waits for the lock X,REC_NOT_GAP")
	tb.inEveryLook("play waits")
	tb.wellLaidOut("play, one waits")
	tb.press("b") // nothing happens
	tb.click(`[data-do=impossible]`)
	tb.says(".graded", "Right: it cannot be done. The explorer ran every schedule that could make a difference: 1,234.")
	tb.click(`.task a[href="#/play"]`)
	tb.await(`document.querySelector("[data-level=safe] .tick")?.textContent === "★"`)
	tb.wellLaidOut("play, levels")
}

func TestGamesThatEndSayWhy(t *testing.T) {
	g := startGames(t)
	tb := startBrowser(t).open(g.url+"/#/play?strategy=naive&buyers=2&stock=2", wide)
	tb.says(".task h1", "Free play")
	tb.says(`[data-buyer=A] .command-button`, "SELECT")
	tb.press("ab")
	tb.moves(2)
	tb.forgive("404")
	g.mu.Lock()
	clear(g.games)
	g.mu.Unlock()
	tb.press("a")
	tb.says("[data-failure=gone]", "because nothing happened in it for a long time")
	tb.inEveryLook("play gone")
	tb.click("[data-failure=gone] button")
	tb.await(`!document.querySelector("[data-failure]")`)
	tb.moves(2)
	tb.press("a")
	tb.moves(3)

	t.Log("left games end")
	tb.eval(`location.hash = "#/play"`)
	tb.says("h1", "You are the scheduler")
	g.mu.Lock()
	g.wrong = "too_many_games"
	g.mu.Unlock()
	tb.forgive("429")
	tb.click(".free-play button")
	tb.says("[data-failure=many]", "Too many games are open")
	g.mu.Lock()
	left := len(g.games)
	g.wrong = ""
	g.mu.Unlock()
	if left != 0 {
		t.Errorf("%d games are left", left)
	}
	tb.click("[data-failure=many] button")
	tb.moves(0)
}

// On real servers: the first level by its keys, and a buyer who waits in MySQL.
func TestRealGames(t *testing.T) {
	u := sharedLab(t)
	tb := startBrowser(t).open(u.page+"#/play", wide)
	tb.await(`document.querySelector(".level a") !== null`)
	tb.eval(`location.hash = "#/play/first-lost-update"`)
	tb.says(`[data-buyer=A] .command-button`, "sends to MySQL")
	tb.press("abbbbb")
	tb.moves(6)
	tb.press("aaaa")
	tb.says(".play-ending .banner", "You sold 3 of 2")
	tb.says(".graded", "Solved")
	tb.inEveryLook("play real won")

	t.Log("free play from a lesson, with somebody who waits")
	tb.eval(`location.hash = "#/lessons/for-update"`)
	tb.click(`a.play-it[href*="strategy=for-update"]`)
	tb.says(`[data-buyer=B] .command-button`, "sends to MySQL")
	tb.press("abab")
	tb.await(`document.querySelector("[data-buyer=B]").dataset.state === "waits"`)
	tb.says(`[data-buyer=B] .command-button`, "A has it")

	t.Log("a lock whose lease ends")
	tb.eval(`location.hash = "#/play?strategy=redis-lua&buyers=3&stock=2"`)
	tb.says(`[data-buyer=C] .command-button`, "sends to Redis")
	tb.press("a")
	tb.await(`document.querySelector("[data-buyer=A] .badge.held") !== null`)
	tb.click(`.play-budget [data-fault="lease ends"]`)
	tb.says("[data-buyer=A] .badges", "its lease has ended")
	tb.press("b")
	tb.moves(3)
	tb.inEveryLook("play real lease")

	t.Log("the counterexample of a cell of the guarantees, followed to its end")
	tb.eval(`location.hash = "#/guarantees?cell=redis-lua.lease-end"`)
	tb.click(`.cell a[href*="counterexample=redis-lua.lease-end"]`)
	tb.await(`document.querySelector(".play-follow")?.dataset.follow === "0"`)
	tb.press("n")
	tb.await(`document.querySelector(".play-follow").dataset.follow === "1"`)
	tb.click(`.play-follow [data-do=all-steps]`)
	tb.await(`document.querySelector(".play-follow").dataset.follow === "over"`)
	tb.await(`document.querySelector(".play-ending [data-broken=true]") !== null`)
}
