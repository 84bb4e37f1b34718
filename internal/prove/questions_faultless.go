package prove

import (
	"seckill/internal/explore"
)

func oversell() Question {
	return Question{ID: "oversell", Title: "no oversell", Choosing: true,
		Asks: "Two buyers in one process, or one beside a cancellation, every schedule of their commands: is " +
			"ever more sold than there was?",
		ask: askFaultless("oversell", 1, isOversell)}
}

func lostUpdate() Question {
	return Question{ID: "lost-update", Title: "no lost update",
		Asks: "The same: do stock and orders agree in the end, and does every buyer get through?",
		ask: askFaultless("lost-update", 1, func(rule string) bool {
			return !isOversell(rule) && rule != explore.RuleOverlap
		})}
}

func acrossProcesses() Question {
	return Question{ID: "processes", Title: "across processes", Choosing: true,
		Asks: "Both questions again, with the actors in two processes.",
		ask:  askFaultless("processes", 2, func(rule string) bool { return rule != explore.RuleOverlap })}
}

func otherSKUs() Question {
	return Question{ID: "other-skus", Title: "other SKUs unhindered",
		Asks:      "Two buyers of different SKUs: does one ever wait for the other?",
		breaks:    func(rule string) bool { return rule == explore.RuleHindered },
		scenarios: otherSKUsScenarios}
}

func otherSKUsScenarios(_ *trial) []*explore.Scenario {
	two := newBuyers(1, explore.Buys, explore.Buys)
	two[1].Other = true
	return []*explore.Scenario{{Name: "two buyers of different SKUs", Stock: 5, Buyers: two}}
}
