package measure

import (
	"fmt"
	"time"

	"seckill/internal/numbers"
)

// None stands for a figure that does not exist.
const None = "–"

// Number shows three significant digits, and all of them from 1,000 on.
func Number(x float64) string {
	switch {
	case x >= 999.5:
		return numbers.Thousands(int64(x + .5))
	case x >= 99.95:
		return fmt.Sprintf("%.0f", x)
	case x >= 9.995:
		return fmt.Sprintf("%.1f", x)
	}
	return fmt.Sprintf("%.2f", x)
}

// Milliseconds converts a duration to a figure.
func Milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
