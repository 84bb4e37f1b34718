package zklock

import "testing"

func TestPredecessor(t *testing.T) {
	const max = "lock-2147483647"
	for name, c := range map[string]struct {
		own   string
		names []string
		ahead string
		here  bool
	}{
		"alone":              {"lock-0000000000", []string{"lock-0000000000"}, "", true},
		"first":              {"lock-0000000003", []string{"lock-0000000004", "lock-0000000003"}, "", true},
		"the nearest":        {"lock-0000000007", []string{"lock-0000000002", "lock-0000000006", "lock-0000000007", "lock-0000000008"}, "lock-0000000006", true},
		"not in the list":    {"lock-0000000007", []string{"lock-0000000008"}, "", false},
		"any prefix":         {"_c_ffff-lock-0000000009", []string{"_c_ffff-lock-0000000009", "x-99-0000000008", "a__lock__0000000001"}, "x-99-0000000008", true},
		"prefix with digits": {"lock-0000000009", []string{"lock-0000000009", "n1230000000008"}, "n1230000000008", true},
		"strangers":          {"lock-0000000009", []string{"config", "lock-0000000009", "v1", "x-99999999999"}, "", true},
		"counter overflows":  {"lock--2147483648", []string{"lock--2147483648", max, "lock--2147483647"}, max, true},
		"before it":          {max, []string{max, "lock--2147483648"}, "", true},
		"below zero":         {"lock--000000001", []string{"lock--000000002", "lock--000000001", "lock-0000000000"}, "lock--000000002", true},
		"long below zero":    {"lock--1234567890", []string{"lock--1234567891", "lock--1234567890"}, "lock--1234567891", true},
	} {
		t.Run(name, func(t *testing.T) {
			if ahead, here := predecessor(c.names, c.own); ahead != c.ahead || here != c.here {
				t.Errorf("ahead of %s in %q is %q, %v, want %q, %v", c.own, c.names, ahead, here, c.ahead, c.here)
			}
		})
	}
}
