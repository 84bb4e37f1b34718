package loadtest

import (
	"errors"
	"strings"
	"testing"
	"time"

	"seckill/internal/seckill"
)

func TestCheck(t *testing.T) {
	for _, test := range []struct {
		change func(*Scenario)
		want   string
	}{
		{func(s *Scenario) { s.Buyers = maxRequests + 1 }, "buyers: 10000001"},
		{func(s *Scenario) { s.Strategy = "" }, "strategy: give the name"},
		{func(s *Scenario) { s.Quantity = s.Stock + 1 }, "no buyer could buy anything"},
		{func(s *Scenario) { s.Timeout = 0 }, "timeout: 0"},
		{func(s *Scenario) { s.Copies = 1.5 }, "copies: 1.5"},
		{func(s *Scenario) { s.SKU = seckill.ShopSKU }, "the lab's shop"},
		{func(s *Scenario) { s.SKU, s.SKUs = seckill.ShopSKU-9, 10 }, "the lab's shop"},
		{func(s *Scenario) { s.Retry = 21 }, "retry: 21"},
		{func(s *Scenario) { s.Rate = 5 }, `rate: the profile "closed" does not use it`},
		{func(s *Scenario) { s.Zipf = 1.5 }, "zipf: a sale of one SKU does not use it"},
		{func(s *Scenario) { s.Async, s.Reserve = true, time.Second }, "async: reservations do not use it"},
		{func(s *Scenario) { s.Buyers, s.Duplicates = 100, 0 }, "the buyers want at most 100 units"},
		{func(s *Scenario) { s.Buyers, s.Duplicates = 150, .5 }, "units of any SKU"},
		{func(s *Scenario) { s.Profile, s.Rate, s.Duration = Constant, 1e6, 24*time.Hour }, "10,000,001 buyers"},
		{func(s *Scenario) { s.Forget = .1 }, "give --reserve, such as 2s"},
		{func(s *Scenario) { s.Reserve = 1500 * time.Millisecond }, "give whole seconds"},
	} {
		s := DefaultScenario()
		test.change(&s)
		var field *seckill.FieldError
		if err := s.Check(); !errors.Is(err, ErrConfig) || !errors.As(err, &field) || field.Code == "" ||
			!strings.Contains(err.Error(), test.want) {
			t.Errorf("%v, want %q", err, test.want)
		}
	}
}
