// Package game lets a person decide which buyer's next command runs. The buyers run an unmodified strategy on real
// servers. Each move lets one buyer's next command run, or makes a fault happen. Package explore executes the moves.
// This package holds the games, the levels, the short texts of schedules and the files of counterexamples.
package game

import "seckill/internal/explore"

// A State is everything that the page shows about one game. Every API call about a game answers with the whole
// State. docs/http.md lists the calls.
type State struct {
	// ID names the game in the API of one lab. A game can be shown in another lab by its level (or setting) and its
	// schedule.
	ID string `json:"id"`
	// Level is the name of the level; "" in free play.
	Level   string  `json:"level,omitempty"`
	Setting Setting `json:"setting"`
	// Schedule contains every move so far as one short text of letters, which fits in an address.
	// The same moves lead to the same state in another lab. docs/teaching.md explains the letters.
	Schedule string `json:"schedule"`
	explore.View
	// Moves lists the moves that are possible now. It is empty when the game is over.
	Moves []Move `json:"moves"`
	// MovesMade counts the player's moves. Steps for which the player had no choice do not count.
	MovesMade int `json:"moves_made"`
	// FaultsLeft is how many more faults the player may cause. At the start it is Setting.MaxFaults.
	FaultsLeft int `json:"faults_left"`
	// Over means that all buyers are done and that Verdict is set.
	Over bool `json:"over"`
	// Verdict is null until the game is over.
	Verdict *Verdict `json:"verdict"`
	// Grade is null in free play. In a level, it is null until the game is over or the player says that the level is
	// impossible.
	Grade *Grade `json:"grade"`
}

// A Setting describes the start of a game. A setting and a schedule together describe a whole game. The list
// Faults is never null.
type Setting struct {
	Strategy         string `json:"strategy"`
	explore.Scenario `yaml:",inline"`
}

// A Move is one choice that the player has now: a buyer's next command, or a fault.
type Move struct {
	Move string `json:"move"` // the letters of the move in a schedule
	explore.OptionView
}

// A Verdict is the judge's opinion of a finished game.
type Verdict struct {
	Broken   bool              `json:"broken"`   // at least one rule is broken
	Problems []explore.Problem `json:"problems"` // never null
	Stock    int64             `json:"stock"`    // units on sale at the start
	Sold     int64             `json:"sold"`     // units of all orders in the ledger
	Told     int64             `json:"told"`     // units of the purchases that were answered with success
	Left     int64             `json:"left"`     // units that are left according to the ledger
}

// A Grade says how well a player has played a level.
type Grade struct {
	// Won means that the player broke the rule, or rightly said that the level is impossible.
	Won bool `json:"won"`
	// SaidImpossible means that the player called the level impossible. If Won is false, the level is possible.
	SaidImpossible bool `json:"said_impossible,omitempty"`
	// Searched is how many schedules the explorer ran to show that the level is impossible; 0 if the level is
	// possible. Schedules that differ only in the order of independent commands count as one.
	Searched int `json:"searched,omitempty"`
	// BestMoves is the number of moves of the best known solution; 0 if Won is false or the level is impossible.
	BestMoves int `json:"best_moves,omitempty"`
}

// A Level is one task for a player.
type Level struct {
	Name string `json:"name" yaml:"-"` // for example "first-lost-update"
	// Number is the position in the list of levels, from 1.
	Number int `json:"number" yaml:"-"`
	// Chapter is the number of the chapter of the course to which the level belongs, or 0.
	Chapter int     `json:"chapter" yaml:"chapter"`
	Setting Setting `json:"setting" yaml:",inline"`
	// Breaks lists rules of the judge. The player wins by breaking one of these rules. If that is
	// impossible, the player wins by saying so.
	Breaks []string `json:"breaks" yaml:"breaks"`
	// Available means that the level can be played here. Otherwise Missing says why not.
	Available bool                 `json:"available" yaml:"-"`
	Missing   []string             `json:"missing,omitempty" yaml:"-"`
	Text      map[string]LevelText `json:"text" yaml:"text"` // the keys are languages: "en" and "zh"
	Solution  `json:"solution" yaml:",inline"`
}

// A Solution is the best known solution of a level. The sheet for teachers shows it, and Grade.BestMoves refers to it.
type Solution struct {
	// Impossible is 0 if some schedule breaks a rule of the level. Otherwise it is the number of schedules that the
	// explorer ran to show that no schedule does (see Grade.Searched).
	Impossible int    `json:"impossible" yaml:"impossible"`
	Schedule   string `json:"schedule" yaml:"solution"` // "" if the level is impossible
	Moves      int    `json:"moves" yaml:"-"`
	// Switches is the number of moves that let another buyer continue although the buyer of the last move could.
	Switches int `json:"switches" yaml:"switches"`
}

// A LevelText is the text of a level in one language.
type LevelText struct {
	Title  string `json:"title" yaml:"title"`
	Goal   string `json:"goal" yaml:"goal"`     // the task, in one or two sentences
	Hint   string `json:"hint" yaml:"hint"`     // shown when the player asks for it
	Solved string `json:"solved" yaml:"solved"` // shown after a win: what happened, and why
}
