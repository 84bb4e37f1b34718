package classroom

import (
	"encoding/csv"
	"io"
	"strconv"
	"time"
)

// WriteCSV writes a line for each learner: how far they are, and for each of the
// levels the moves of their solution, or "impossible", or nothing.
func (c *Class) WriteCSV(w io.Writer, levels []string) error {
	out := csv.NewWriter(w)
	head := append([]string{"nickname", "joined", "chapters_read", "predictions", "predictions_right", "levels_solved"}, levels...)
	if err := out.Write(head); err != nil {
		return err
	}
	for _, l := range c.Learners {
		right, solved := 0, 0
		for _, p := range l.Predictions {
			if p.Right {
				right++
			}
		}
		row := make([]string, 6, len(head))
		for _, name := range levels {
			s, ok := l.Levels[name]
			switch {
			case !ok:
				row = append(row, "")
				continue
			case s.Impossible:
				row = append(row, "impossible")
			default:
				row = append(row, strconv.Itoa(s.Moves))
			}
			solved++
		}
		for i, value := range []string{l.Nickname, l.Joined.Format(time.RFC3339), strconv.Itoa(len(l.Chapters)),
			strconv.Itoa(len(l.Predictions)), strconv.Itoa(right), strconv.Itoa(solved)} {
			row[i] = value
		}
		if err := out.Write(row); err != nil {
			return err
		}
	}
	out.Flush()
	return out.Error()
}
