//go:build verify

package e2e

import "testing"

// No two texts of any drawing overlap, and none leaves it: the browser measures.
func TestTextsOfDiagramsDoNotMeet(t *testing.T) {
	tb := startBrowser(t).open(startFake(t).url+"/#/trace", wide)
	tb.says(".title-of", "naive")
	tb.eval(`{ const place = document.createElement("div"); place.id = "place"; document.body.append(place); }`)
	for _, language := range []string{"en", "zh-CN"} {
		tb.speak(language)
		for _, width := range []string{"340", "640", "960"} {
			tb.drawKept(`{ width: `+width+`, heading: true }`, `({ source }) => {
				const place = document.querySelector("#place");
				place.innerHTML = source;
				const [, , width] = place.firstChild.getAttribute("viewBox").split(" ").map(Number);
				const texts = [...place.querySelectorAll("text")].map((el) => ({ says: el.textContent, box: el.getBBox() }));
				const wrong = texts.filter(({ box }) => box.x < -0.5 || box.x + box.width > width + 0.5).map(({ says, box }) => says + " leaves the drawing: " + box.x + " + " + box.width + " of " + width);
				texts.sort((a, b) => a.box.y - b.box.y);
				texts.forEach((a, i) => texts.slice(i + 1).forEach((b) => {
					const across = Math.min(a.box.x + a.box.width, b.box.x + b.box.width) - Math.max(a.box.x, b.box.x);
					const down = Math.min(a.box.y + a.box.height, b.box.y + b.box.height) - b.box.y;
					if (across > 1 && down > 0.35 * Math.min(a.box.height, b.box.height)) wrong.push(a.says + " and " + b.says + " overlap by " + Math.round(across) + " × " + Math.round(down));
				}));
				return wrong;
			}`)
		}
	}
}
