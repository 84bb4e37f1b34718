package measure

import (
	"encoding/json"
	"fmt"
	"io"
)

// A Matrix is what is used of the guarantee matrix that `seckill prove --json`
// wrote: answers by strategy and question. A nil Matrix answers nothing.
type Matrix map[string]map[string]string

// matrixFormat is the one that has what is used here.
const matrixFormat = 2

// ReadMatrix reads what prove wrote.
func ReadMatrix(r io.Reader) (Matrix, error) {
	var read struct {
		Format int
		Rows   []struct {
			Strategy string
			Cells    map[string]struct{ Answer string }
		}
	}
	if err := json.NewDecoder(r).Decode(&read); err != nil || read.Format != matrixFormat {
		return nil, fmt.Errorf("this is no matrix of seckill prove --json of format %d: %w", matrixFormat, err)
	}
	m := Matrix{}
	for _, row := range read.Rows {
		m[row.Strategy] = map[string]string{}
		for question, cell := range row.Cells {
			m[row.Strategy][question] = cell.Answer
		}
	}
	return m, nil
}

// Breaks reports whether a question breaks a strategy.
func (m Matrix) Breaks(strategy, question string) bool { return m[strategy][question] == "breaks" }
