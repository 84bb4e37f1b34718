// Package game lets a person be the scheduler: buyers run an untouched strategy
// on real servers, and each move lets the next real command of one of them run,
// or a fault happen. Package explore does the moves; this package keeps the
// games, the levels, schedules as short texts, and the files of counterexamples.
package game

import "seckill/internal/explore"

// A State is all that a page shows of one game. Every call about a game answers
// with the whole of it. docs/http.md lists the calls.
type State struct {
	// ID names the game in the API. It means nothing elsewhere: to send a game
	// to others, send the level (or the setting) and the schedule.
	ID string `json:"id"`
	// Level is the name of the level that is played; "" in free play.
	Level string `json:"level,omitempty"`
	// Setting is what the game began with.
	Setting Setting `json:"setting"`
	// Schedule is every move so far, as one short text of letters: it fits in an
	// address, and leads to the same state elsewhere. docs/teaching.md says how it is read.
	Schedule string `json:"schedule"`
	explore.View
	// Moves are all that are possible now; empty when it is over.
	Moves []Move `json:"moves"`
	// MovesMade counts moves (not steps that came by themselves).
	MovesMade int `json:"moves_made"`
	// FaultsLeft is how many more faults may happen: of Setting.MaxFaults.
	FaultsLeft int `json:"faults_left"`
	// Over: all buyers are done, and Verdict is there.
	Over bool `json:"over"`
	// Verdict is what the judge says; null until the game is over.
	Verdict *Verdict `json:"verdict"`
	// Grade is how a level was played; null in free play, and until the game is
	// over or the level was said to be impossible.
	Grade *Grade `json:"grade"`
}

// A Setting is what a game begins with: it and a schedule are the whole game. Its
// Faults are never null.
type Setting struct {
	Strategy         string `json:"strategy"`
	explore.Scenario `yaml:",inline"`
}

// A Move is one of explore.View's options.
type Move struct {
	Move string `json:"move"` // as a schedule writes it
	explore.OptionView
}

// A Verdict is the judge's.
type Verdict struct {
	// Broken: at least one promise is broken.
	Broken   bool              `json:"broken"`
	Problems []explore.Problem `json:"problems"` // never null
	// Stock is what there was, Sold the units of all orders, Told the units that
	// buyers were told they have, Left what is left by the ledger. "You sold 3 of
	// 2" is Sold and Stock.
	Stock int64 `json:"stock"`
	Sold  int64 `json:"sold"`
	Told  int64 `json:"told"`
	Left  int64 `json:"left"`
}

// A Grade is how a level was played.
type Grade struct {
	// Won: what the level asks for was done, or rightly said to be impossible.
	Won bool `json:"won"`
	// SaidImpossible: the player said that it cannot be done; it can if Won is false.
	SaidImpossible bool `json:"said_impossible,omitempty"`
	// Searched is how many schedules showed that, each standing for all that differ
	// from it only in the order of independent commands; 0 if none did.
	Searched int `json:"searched,omitempty"`
	// BestMoves is how many the best known solution has; 0 when Won is false or the
	// level is impossible.
	BestMoves int `json:"best_moves,omitempty"`
}

// A Level is one task.
type Level struct {
	Name string `json:"name" yaml:"-"` // "first-lost-update"
	// Number is its place, from 1.
	Number int `json:"number" yaml:"-"`
	// Chapter is the chapter of the course that it belongs to, by its number;
	// 0: none.
	Chapter int     `json:"chapter" yaml:"chapter"`
	Setting Setting `json:"setting" yaml:",inline"`
	// Breaks are the rules of which one must be broken to win, if that is
	// possible.
	Breaks []string `json:"breaks" yaml:"breaks"`
	// Available: the strategy can run here; else Missing says what it needs.
	Available bool     `json:"available" yaml:"-"`
	Missing   []string `json:"missing,omitempty" yaml:"-"`
	// Text by language: "en" and "zh".
	Text     map[string]LevelText `json:"text" yaml:"text"`
	Solution `json:"solution" yaml:",inline"`
}

// A Solution of a level, for a teacher's sheet and its grade.
type Solution struct {
	// Impossible, if not 0: no schedule breaks what the level names, and so many
	// were run to know it (of those that commute, one).
	Impossible int `json:"impossible" yaml:"impossible"`
	// Schedule is the best known one that does; "" if none does.
	Schedule string `json:"schedule" yaml:"solution"`
	Moves    int    `json:"moves" yaml:"-"`
	Switches int    `json:"switches" yaml:"switches"` // preemptions, as explore counts them
}

// A LevelText is what the page says of a level.
type LevelText struct {
	Title string `json:"title" yaml:"title"`
	// Goal says what is to be done, in a sentence or two.
	Goal string `json:"goal" yaml:"goal"`
	// Hint is shown when it is asked for.
	Hint string `json:"hint" yaml:"hint"`
	// Solved is shown when it is won: what was seen, and why.
	Solved string `json:"solved" yaml:"solved"`
}
