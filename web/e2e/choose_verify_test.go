//go:build verify

package e2e

import (
	"testing"

	"github.com/chromedp/chromedp"
)

// The chooser over the real strategies, the computed matrix and the figures.
func TestChooserOfRealLab(t *testing.T) {
	tb := startBrowser(t).open(sharedLab(t).page+"#/choose", wide)
	tb.says(".results", "strategies fit.")
	tb.says(".fit:first-of-type", "holds in all schedules: no oversell, no lost update, and across processes")
	tb.says(".fit:first-of-type", "Sold ")
	tb.says(".fit:first-of-type", "Needs a SQL database.")
	tb.says(".excluded", "break without any fault")
	tb.says(".excluded", "need ZooKeeper")
	tb.inEveryLook("choose")
	tb.wellLaidOut("choose")

	t.Log("every answer is in the address, and excludes")
	for _, box := range []string{"have value=zookeeper", "have value=etcd", "fails value=lease-end", "fails value=node-loss", "order value=true"} {
		tb.tick(box)
	}
	tb.await(`location.hash === "#/choose?stock=1000&have=mysql%2Czookeeper%2Cetcd%2Cprocesses&fails=lease-end%2Cnode-loss&order=yes"`)
	tb.says(".excluded", "break when a holder pauses past its lease")
	tb.says(".excluded", "luck decides who is next, or there is no queue")
	tb.says(".fit:first-of-type", "first come first served: in order")
	tb.do(chromedp.Reload())
	tb.says(".excluded", "luck decides")
	tb.await(`document.querySelectorAll(".questions :checked").length === 9`)
	tb.shots("choose-asked")

	t.Log("nothing is measured as fast as that")
	tb.tick("stock value=100000")
	tb.tick("rate value=10000")
	tb.says(".results [role=status]", "None that fits was measured at 10,000 sales per second. The fastest of")
	tb.await(`document.querySelector(".results details").open`)
	tb.wellLaidOut("choose, too fast")

	t.Log("nothing fits, and which answers to change")
	tb.eval(`location.hash = "#/choose?have=redis,processes&order=yes"`)
	tb.says(".results [role=status]", "strategies fits.")
	tb.says(".ways", "Changing one of these is enough:")
	tb.says(".ways", "add ZooKeeper: ")
	tb.inEveryLook("choose nothing")
	tb.wellLaidOut("choose, nothing")
	tb.click(".ways a")
	tb.says(".results [role=status]", "fit")
	tb.await(`document.querySelector(".fit") !== null`)

	t.Log("in Chinese")
	tb.speak("zh-CN")
	tb.says(".results", "符合")
	tb.inEveryLook("choose zh")
}

// The matrix of the program on a phone, its differences, and its filter.
func TestGuaranteesOfRealLab(t *testing.T) {
	tb := startBrowser(t).open(sharedLab(t).page+"#/guarantees", wide)
	tb.says("main", "55 strategies")
	tb.await(`document.querySelector(".matrix tbody tr") !== null`)
	tb.inEveryLook("real guarantees")
	tb.eval(`location.hash = "#/guarantees?must=processes,dead-holder,lease-end,order"`)
	tb.says("main", "of 55 strategies. The filter asks for: several processes; survives a dead holder; survives a pause; fair.")
	tb.wellLaidOut("guarantees, presets")
	tb.eval(`location.hash = "#/guarantees?rows=redis-lua,zk,etcd-fenced,conditional&diff=1"`)
	tb.says("main", "Their answers differ in")
	tb.inEveryLook("guarantees differences")
	tb.wellLaidOut("guarantees, differences")
	tb.eval(`location.hash = "#/guarantees?name=nothing&family=zklock"`)
	tb.says("main", "No strategy matches.")
	tb.wellLaidOut("guarantees, nothing")
}
