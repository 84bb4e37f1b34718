package loadtest

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// A Fraction is a share from 0 to 1, written as such or in percent: 0.01 or 1%.
type Fraction float64

// UnmarshalText reads a flag or a scenario file.
func (f *Fraction) UnmarshalText(text []byte) error {
	number, percent := strings.CutSuffix(strings.Trim(string(text), "\"' \t"), "%")
	v, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
	if percent {
		v /= 100
	}
	if err != nil || !(v >= 0 && v <= 1) {
		return fmt.Errorf("%q is no share: give one from 0 to 1, or in percent: 0.01 or 1%%", text)
	}
	*f = Fraction(v)
	return nil
}

func (f Fraction) String() string { return strconv.FormatFloat(100*float64(f), 'g', 4, 64) + "%" }

// keyed reports whether a request carries an idempotency key.
func (a *Adapter) keyed() bool {
	m, err := a.Request.compile("service.request", ofPurchase...)
	if err != nil {
		return false // which is said elsewhere
	}
	return slices.ContainsFunc(slices.Concat(m.path, m.header, m.body), func(p part) bool { return p.blank == blankRequestID })
}

// checkKeyed refuses to send a request again where nothing tells the calls of
// one request from further requests.
func (s Scenario) checkKeyed() error {
	if s.Service.keyed() {
		return nil
	}
	const why = "the service's request has no {{.RequestID}}: without an idempotency key every call is another purchase; give 0"
	switch {
	case s.Copies > 0:
		return wrong("copies", why)
	case s.Retry > 0:
		return wrong("retry", why)
	}
	return nil
}
