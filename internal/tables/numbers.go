// Package tables writes results for people: numbers, tables and reports as text, Markdown,
// CSV and JSON, and blocks of Markdown files.
package tables

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Thousands groups the digits of a number: 12,345.
func Thousands[N int | int64](n N) string {
	digits := strconv.FormatInt(int64(n), 10)
	sign := ""
	if digits[0] == '-' {
		sign, digits = "-", digits[1:]
	}
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return sign + digits
}

// Count returns a number with a noun: 1 unit, 2 units.
func Count[N int | int64](n N, thing string) string { return CountOf(n, thing, thing+"s") }

// CountOf is Count for a noun with an irregular plural.
func CountOf[N int | int64](n N, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return Thousands(n) + " " + many
}

// Duration formats microseconds with three significant digits, in ms or s.
func Duration(us int64) string {
	ms := float64(us) / 1000
	switch {
	case ms >= 999.5:
		return strconv.FormatFloat(ms/1000, 'f', 2, 64) + " s"
	case ms >= 100:
		return strconv.FormatFloat(ms, 'f', 0, 64) + " ms"
	case ms >= 10:
		return strconv.FormatFloat(ms, 'f', 1, 64) + " ms"
	}
	return strconv.FormatFloat(ms, 'f', 2, 64) + " ms"
}

// Span formats a duration as a person types it: 1m, where String returns 1m0s.
func Span(d time.Duration) string {
	text := d.String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}

// None is written where there is no figure.
const None = "–"

// Number formats x with three significant digits, or as a whole number from 1,000 on.
func Number(x float64) string {
	switch {
	case x >= 999.5:
		return Thousands(int64(x + .5))
	case x >= 99.95:
		return fmt.Sprintf("%.0f", x)
	case x >= 9.995:
		return fmt.Sprintf("%.1f", x)
	}
	return fmt.Sprintf("%.2f", x)
}
