package measure

import (
	"fmt"
	"io"
	"strings"
)

// A Matrix is what reports and claims use of the guarantee matrix that
// `seckill prove --json` wrote. A nil Matrix answers nothing.
type Matrix struct {
	Format int         `json:"format"`
	Rows   []MatrixRow `json:"rows"`
}

// A MatrixRow has a strategy's cells by question.
type MatrixRow struct {
	Strategy string          `json:"strategy"`
	Cells    map[string]Cell `json:"cells"`
}

// A Cell is the answer to one question about one strategy.
type Cell struct {
	Answer string  `json:"answer"`
	Text   string  `json:"text"`
	Wait   float64 `json:"wait_s"`
}

// matrixFormat is the one that has what is used here.
const matrixFormat = 2

// ReadMatrix reads what prove wrote.
func ReadMatrix(r io.Reader) (*Matrix, error) {
	var m Matrix
	if err := ReadJSON(r, &m); err != nil {
		return nil, fmt.Errorf("this is no matrix of seckill prove --json: %w", err)
	}
	if m.Format != matrixFormat || len(m.Rows) == 0 {
		return nil, fmt.Errorf("this is no matrix of seckill prove --json of format %d", matrixFormat)
	}
	return &m, nil
}

// Cell is the answer to a question about a strategy; empty if the matrix has
// none.
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

// Breaks reports whether the answer is no.
func (c Cell) Breaks() bool { return c.Answer == "breaks" }

// Sign is the answer in one character, or what was measured in a few words.
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
	return None
}

// String is the sign, and after how long the next holder got the lock.
func (c Cell) String() string {
	switch {
	case c.Answer == "":
		return "not proven"
	case c.Answer == "holds" && c.Wait > 0:
		return fmt.Sprintf("✓ after %.1f s", c.Wait)
	}
	return c.Sign()
}
