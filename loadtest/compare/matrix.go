package compare

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
)

// A Matrix is what the report shows of one that `seckill prove --json` wrote.
type Matrix struct {
	Format    int `json:"format"`
	Questions []struct {
		ID    string `json:"id"`
		Title string `json:"title"`
		Asks  string `json:"asks"`
	} `json:"questions"`
	Rows []struct {
		Strategy string          `json:"strategy"`
		Cells    map[string]Cell `json:"cells"`
	} `json:"rows"`
}

// A Cell is the answer to one question about one strategy.
type Cell struct {
	Answer string  `json:"answer"`
	Text   string  `json:"text"`
	Wait   float64 `json:"wait_s"`
}

// Formats that have what a report shows.
const oldestMatrix, newestMatrix = 1, 2

// ReadMatrix reads one.
func ReadMatrix(r io.Reader) (*Matrix, error) {
	var m Matrix
	if err := json.NewDecoder(io.LimitReader(r, maxResult)).Decode(&m); err != nil {
		return nil, fmt.Errorf("this is no matrix of seckill prove --json: %w", err)
	}
	if m.Format < oldestMatrix || m.Format > newestMatrix || len(m.Questions) == 0 {
		return nil, fmt.Errorf("this is no matrix of seckill prove --json of format %d or %d", oldestMatrix, newestMatrix)
	}
	return &m, nil
}

// Cell is the answer to a question about a strategy; an empty one if the matrix
// has none.
func (m *Matrix) Cell(strategy, question string) Cell {
	if m == nil {
		return Cell{}
	}
	for _, row := range m.Rows {
		if row.Strategy == strategy {
			return row.Cells[question]
		}
	}
	return Cell{}
}

// Sign is the answer in one character, or what was seen in a few words.
func (c Cell) Sign() string {
	switch c.Answer {
	case "holds":
		return "✓"
	case "breaks":
		return "✗"
	case "measured":
		first, _, _ := strings.Cut(c.Text, ";")
		return first
	case "failed":
		return "!"
	}
	return none
}
