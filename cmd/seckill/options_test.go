package main

import (
	"testing"

	"seckill/strategies"
)

// An option that a strategy names is a flag of seckill serve.
func TestEveryOptionIsAFlag(t *testing.T) {
	parser, err := newParser(&ServeCmd{})
	if err != nil {
		t.Fatal(err)
	}
	flags := map[string]bool{}
	for _, f := range parser.Model.Flags {
		flags["--"+f.Name] = true
	}
	for _, info := range strategies.All() {
		for _, o := range info.Options {
			if !flags[o.Flag] {
				t.Errorf("%s names the option %s, which seckill serve does not have", info.Name, o.Flag)
			}
		}
	}
}
