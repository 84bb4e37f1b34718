package measure

import (
	"fmt"
	"math"
	"strings"
	"time"

	"seckill/internal/backend"
)

// A Run says in the lessons where figures come from.
type Run struct {
	Command string    `json:"command"`
	Begun   time.Time `json:"begun"`
	OS      string    `json:"os"`
	CPUs    int       `json:"cpus"`
	Servers []string  `json:"servers"`
}

// RunOf describes a run.
func RunOf(command string, begun time.Time, m Machine, servers []backend.Status) Run {
	return Run{command, begun, m.OS, m.CPUs, Versions(servers)}
}

// String is a line of Markdown.
func (r Run) String() string {
	text := fmt.Sprintf("`%s`, %s, %d processors, %s", r.Command, r.Begun.UTC().Format("2006-01-02"), r.CPUs, r.OS)
	return strings.Join(append([]string{text}, r.Servers...), ", ")
}

// Short is the median, the lowest and the highest round, with four digits each.
func (s Spread) Short() [3]float64 {
	return [3]float64{Digits(s.Median), Digits(s.Low), Digits(s.High)}
}

// Digits keeps four significant digits.
func Digits(x float64) float64 {
	if x == 0 || math.IsNaN(x) || math.IsInf(x, 0) {
		return 0
	}
	scale := math.Pow(10, 3-math.Floor(math.Log10(math.Abs(x))))
	return math.Round(x*scale) / scale
}
