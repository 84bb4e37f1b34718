package e2e

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"
)

// plays presses keys. Each key is a move of the game.
func (tb *tab) plays(keys string) {
	tb.t.Helper()
	tb.press(strings.Split(keys, "")...)
}

// On real servers, a level is solved with the keyboard, replayed, shared and undone.
func TestLevelIsSolvedWithTheKeyboard(t *testing.T) {
	t.Parallel()
	tb := fresh(t, sharedLab(t).page+"#/play")
	tb.shows(`.level a`)
	tb.good("levels")
	tb.reach(`.first-level a`)
	tb.press("\r")
	tb.says(`[data-buyer=A] .command-button`, "sends to MySQL")
	tb.plays("ab")
	tb.shows(`.play [data-moves="2"]`)
	tb.says(".play [role=status]", "B: ")
	tb.plays("u")
	tb.shows(`.play [data-moves="1"]`)
	tb.says(".play [role=status]", "Taken back. 1 move so far.")
	tb.plays("bbbbbaaaa") // no key is lost, although they come faster than the lab answers
	tb.says(".play-ending [data-broken=true]", "You sold 3 of 2")
	tb.says(".graded", "Solved", "★★★")
	tb.await(`$(".play-ending > :first-child").matches(".graded.held")`) // green, because the level is solved
	tb.await(`location.hash === "#/play/first-lost-update?s=abbbbbaaaa"`)
	tb.good("play won")

	t.Log("the arrows look back, and change nothing")
	tb.press(kb.ArrowLeft, kb.ArrowLeft, kb.ArrowLeft)
	tb.says(".looking", "You look at step 7 of 10")
	tb.press(kb.ArrowRight)
	tb.says(".looking", "step 8 of 10")
	tb.click(".looking .link")
	tb.await(`!$(".looking")`)
	tb.shows(`.play [data-moves="10"]`)

	t.Log("elsewhere, the address leads to the same state")
	tb.eval(`navigator.clipboard.writeText = async (text) => { window.copied = text; }`)
	tb.plays("uuu")
	tb.shows(`.play [data-moves="7"]`)
	tb.click(`.play-tools .copy button`)
	tb.says(".play-tools .copy", "Copied")
	link := ask[string](tb, `window.copied`)
	if !strings.HasSuffix(link, "#/play/first-lost-update?s=abbbbba") {
		t.Fatalf("the link is %q", link)
	}
	const state = `$$(".buyer-column, .play-state").map((e) => e.innerText).join("\n")`
	want := ask[string](tb, state)
	other := fresh(t, link)
	other.shows(`.play [data-moves="7"]`)
	other.await(fmt.Sprintf(`%s.replace(/\w{20,}/g, "") === %q.replace(/\w{20,}/g, "")`, state,
		want)) // the states are equal, apart from the ids of the orders

	t.Log("a link that is wrong")
	tb.forgive("400")
	tb.goTo("play/first-lost-update?s=abx")
	tb.says(".failed", "The schedule \"abx\" makes no sense")
	tb.click(".failed button")
	tb.shows(`.play [data-moves="0"]`)
	tb.click(`[data-do=impossible]`)
	tb.says(".graded", "It can be done: that costs a star. The game goes on.")
	tb.plays("abbbbbaaaa")
	tb.says(".graded", "Solved", "★★☆")
}

// A fault of another user can sever the connection of a game. The page then makes the move again by itself.
func TestMoveOnSeveredConnectionIsRepeated(t *testing.T) {
	t.Parallel()
	tb := fresh(t, sharedLab(t).page+"#/play/first-lost-update")
	tb.says(`[data-buyer=A] .command-button`, "sends to MySQL")
	tb.eval(`{
		const lab = window.fetch;
		window.asked = [];
		window.fetch = async (path, init) => {
			const answer = await lab(path, init);
			const [, call] = /games\/[^/]+\/(\w+)$/.exec(path) ?? [];
			if (!call || asked.push(call) > 1) return answer;
			const game = await answer.json();
			game.buyers[0].told = "a backend is unavailable: invalid connection";
			return new Response(JSON.stringify(game));
		};
	}`)
	tb.plays("a")
	tb.await(`asked.join() === "moves,undo,moves"`)
	tb.shows(`.play [data-moves="1"]`)
	tb.plays("b")
	tb.shows(`.play [data-moves="2"]`)
	tb.await(`asked.join() === "moves,undo,moves,moves" && !document.querySelector(".play").innerText.includes("invalid connection")`)
}

func TestGamesOfAllKinds(t *testing.T) {
	t.Parallel()
	tb := fresh(t, sharedLab(t).page+"#/play/row-lock")
	t.Log("one waits, and impossible is an answer")
	tb.says(".play-budget", "1 of 1 fault left")
	tb.says(`[data-buyer=B] .command-button`, "sends to MySQL")
	tb.plays("aba")
	tb.shows(`.play [data-moves="3"]`)
	tb.plays("b")
	tb.await(`$("[data-buyer=B]").dataset.state === "waits"`)
	tb.says(`[data-buyer=B] .command-button`, "A has it")
	tb.says(`.play [role=status]`, "B waits: waits for the lock X on stock, index PRIMARY")
	tb.good("play, one waits")
	tb.plays("b") // B waits already, so nothing happens
	tb.click(`[data-do=impossible]`)
	tb.says(".graded", "Right: it cannot be done.")
	tb.click(`.task a[href="#/play"]`)
	tb.await(`$("[data-level=row-lock] .tick")?.textContent === "✓"`)

	t.Log("a sale that free play cannot have, and a lock whose lease ends, from a lesson")
	tb.goTo("play?strategy=naive&buyers=0")
	tb.says(".wrong", "2 or 3 buyers")
	tb.goTo("lessons/redis-lua")
	tb.click(`a.play-it[href*="strategy=redis-lua"]`)
	tb.says(`[data-buyer=B] .command-button`, "sends to Redis")
	tb.plays("a")
	tb.shows(`[data-buyer=A] .badge.held`)
	tb.click(`.play-budget [data-fault="lease ends"]`)
	tb.says("[data-buyer=A] .badges", "its lease has ended")
	tb.plays("b")
	tb.shows(`.play [data-moves="3"]`)
}
