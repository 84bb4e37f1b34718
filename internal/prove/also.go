package prove

import (
	"fmt"
	"slices"
	"strings"

	"seckill/internal/backend"
	"seckill/internal/lab"
)

// Also is the same proof on other servers. Only what came out otherwise than on
// the first is kept.
type Also struct {
	Servers string                     `json:"servers"` // "MySQL 9.7.0", "Redis 7.0.15, a Cluster"
	Asked   map[string]int             `json:"asked"`   // cells, by strategy: the most that were asked at once
	Differs map[string]map[string]Cell `json:"differs"` // by strategy and question
}

// Add compares the proof of other servers with this one. What was asked there before,
// and was not asked now, stays: a proof may ask few questions, or be interrupted.
func (m *Matrix) Add(name string, other *Matrix) {
	i := slices.IndexFunc(m.Also, func(a Also) bool { return a.Servers == name })
	if i < 0 {
		i = len(m.Also)
		m.Also = append(m.Also, Also{Servers: name, Asked: map[string]int{}, Differs: map[string]map[string]Cell{}})
	}
	also := m.Also[i]
	defer func() { // a proof that could not begin leaves no trace
		if len(m.Also[i].Asked) == 0 {
			m.Also = slices.Delete(m.Also, i, i+1)
		}
	}()
	for _, theirs := range other.Rows {
		ours := m.row(theirs.Strategy)
		if ours == nil {
			continue
		}
		asked, differs := 0, also.Differs[theirs.Strategy]
		if differs == nil {
			differs = map[string]Cell{}
		}
		for id, c := range theirs.Cells {
			if c.Answer == Missing {
				continue
			}
			asked++
			delete(differs, id)
			if !c.sameAs(ours.Cells[id]) {
				c.Example = "" // files are those of the first
				differs[id] = c
			}
		}
		if asked > 0 {
			also.Asked[theirs.Strategy] = max(asked, also.Asked[theirs.Strategy])
		}
		delete(also.Differs, theirs.Strategy)
		if len(differs) > 0 {
			also.Differs[theirs.Strategy] = differs
		}
	}
}

// sameAs: the same is promised. How far a search got is no difference, nor is
// which of a strategy's flaws it met first.
func (c Cell) sameAs(d Cell) bool {
	if c.Answer != d.Answer {
		return false
	}
	if c.Answer == Measured {
		short, _, _ := strings.Cut(c.Text, ";")
		other, _, _ := strings.Cut(d.Text, ";")
		return short == other
	}
	return true
}

// elsewhere lists what came out otherwise on other servers, a line each.
func (m *Matrix) elsewhere() (lines []string) {
	for _, a := range m.Also {
		asked, differing := 0, []string{}
		for _, r := range m.Rows {
			asked += a.Asked[r.Strategy]
			for _, q := range m.Questions {
				if c, differs := a.Differs[r.Strategy][q.ID]; differs {
					differing = append(differing, fmt.Sprintf("  %s · %s: %s (here: %s)", r.Strategy, q.Title, c.Summary(), r.Cells[q.ID].Sign()))
				}
			}
		}
		lines = append(lines, fmt.Sprintf("On %s: %d cells were asked; %d came out otherwise.", a.Servers, asked, len(differing)))
		lines = append(lines, differing...)
	}
	return lines
}

// Place names the servers of a matrix in a few words.
func (m *Matrix) Place(topology string) string {
	which := backend.NameMySQL
	if topology != lab.Single {
		which = backend.NameRedis
	}
	if i := slices.IndexFunc(m.Backends, func(s backend.Status) bool { return s.Name == which }); i >= 0 {
		return m.Backends[i].Version
	}
	return topology
}

// QuestionIDs are ids, or those of all questions.
func QuestionIDs(ids []string) []string {
	if ids != nil {
		return slices.Clone(ids)
	}
	for _, q := range Questions() {
		ids = append(ids, q.ID)
	}
	return ids
}

// SameProduct: both were computed on a MariaDB, or both on a MySQL.
func (m *Matrix) SameProduct(o *Matrix) bool {
	product := func(m *Matrix) string {
		name, _, _ := strings.Cut(m.Place(lab.Single), " ")
		return name
	}
	return product(m) == product(o)
}
