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
	for text, want := range map[string]error{"names: [a, b]": nil, "names: !x\n  a: b": yamlfile.ErrNoYAML} {
		if err := yamlfile.Decode([]byte(text), &v); !errors.Is(err, want) {
			t.Errorf("%q: %v, want %v", text, err, want)
		}
	}
	if err := yamlfile.Decode([]byte("name: a"), &v); err == nil {
		t.Error("a field that is not there is read")
	}
	if file, err := yamlfile.Parse([]byte("names: [a]")); err != nil || len(file.Docs) != 1 {
		t.Errorf("%v, %v", file, err)
	}
}
