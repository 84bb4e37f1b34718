package zklock

import "testing"

func TestPredecessor(t *testing.T) {
	const max = "x-lock-2147483647"
	for name, c := range map[string]struct {
		own   string
		names []string
		ahead string
		here  bool
	}{
		"alone":             {"x-lock-0000000000", []string{"x-lock-0000000000"}, "", true},
		"first":             {"x-lock-0000000003", []string{"x-lock-0000000004", "x-lock-0000000003"}, "", true},
		"the nearest":       {"x-lock-0000000007", []string{"x-lock-0000000002", "x-lock-0000000006", "x-lock-0000000007", "x-lock-0000000008"}, "x-lock-0000000006", true},
		"not in the list":   {"x-lock-0000000007", []string{"x-lock-0000000008"}, "", false},
		"any prefix":        {"_c_ffff-lock-0000000009", []string{"_c_ffff-lock-0000000009", "_c_0-1-lock-0000000008", "a__lock__0000000001"}, "_c_0-1-lock-0000000008", true},
		"strangers":         {"x-lock-0000000009", []string{"config", "x-lock-0000000009", "v1", "x-99999999999"}, "", true},
		"counter overflows": {"x-lock--2147483648", []string{"x-lock--2147483648", max, "x-lock--2147483647"}, max, true},
		"before it":         {max, []string{max, "x-lock--2147483648"}, "", true},
		"below zero":        {"x-lock--000000001", []string{"x-lock--000000002", "x-lock--000000001", "x-lock-0000000000"}, "x-lock--000000002", true},
		"long below zero":   {"x-lock--1234567890", []string{"x-lock--1234567891", "x-lock--1234567890"}, "x-lock--1234567891", true},
	} {
		t.Run(name, func(t *testing.T) {
			if ahead, here := predecessor(c.names, c.own); ahead != c.ahead || here != c.here {
				t.Errorf("ahead of %s in %q is %q, %v, want %q, %v", c.own, c.names, ahead, here, c.ahead, c.here)
			}
		})
	}
}
