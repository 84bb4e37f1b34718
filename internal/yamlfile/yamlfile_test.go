package yamlfile_test

import (
	"errors"
	"testing"

	"seckill/internal/yamlfile"
)

func TestDecode(t *testing.T) {
	var v struct {
		Names []string `yaml:"names"`
	}
	for text, want := range map[string]error{
		"names: [a, b]":                nil,
		"---\nnames: [a]\n# the end\n": nil,
		"names: !x\n  a: b":            yamlfile.ErrNoYAML,
		"names: [a]\n---\nnames: [b]":  yamlfile.ErrSeveral,
	} {
		if err := yamlfile.Decode([]byte(text), &v); !errors.Is(err, want) {
			t.Errorf("%q: %v, want %v", text, err, want)
		}
	}
	if err := yamlfile.Decode([]byte("name: a"), &v); err == nil {
		t.Error("a field that is not there is read")
	}
}
