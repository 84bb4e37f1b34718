package loadtest

import "io/fs"

// damaging are the questions of the guarantee matrix whose “breaks” sells wrongly
// or stops the sale while all servers work, what happens in them, and how many
// processes it takes.
var damaging = []struct {
	question, when string
	processes      int
}{
	{"oversell", "two buyers at once", 1},
	{"processes", "buyers at two service processes", 2},
	{"lease-end", "a holder that is paused past its lease", 1},
	{"dead-holder", "a holder that dies", 1},
}

// A Known schedule breaks the strategy, whatever one run says.
type Known struct {
	Question string `json:"question"` // the column of the guarantee matrix
	Example  string `json:"example"`  // the page plays it at #/trace/EXAMPLE
	When     string `json:"when"`     // what happens in it
}

// breaking are the schedules that a run names that held: those that break its
// strategy with as many processes as it had, with all alive or with a holder that
// is paused or dies.
func (c Config) breaking() (known []Known) {
	if c.Examples == nil {
		return nil
	}
	for _, d := range damaging {
		name := c.Strategy + "." + d.question
		if _, err := fs.Stat(c.Examples, name+".json"); err == nil && len(c.Targets) >= d.processes {
			known = append(known, Known{d.question, name, d.when})
		}
	}
	return known
}
