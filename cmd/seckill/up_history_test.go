package main

import (
	"path/filepath"
	"strings"
	"testing"
)

func TestWhereTheHistoryIs(t *testing.T) {
	data, home, given := t.TempDir(), t.TempDir(), t.TempDir()
	for name, c := range map[string]struct {
		data, home string
		flag       *string
		want, said string
	}{
		"the system's folder": {data, home, nil, filepath.Join(data, "seckill"), ""},
		"home":                {"", home, nil, filepath.Join(home, ".local", "share", "seckill"), ""},
		"no home":             {"", "", nil, "", "--history DIR keeps them"},
		"--history":           {data, home, &given, given, ""},
		"--history=":          {data, home, new(""), "", ""},
	} {
		t.Setenv("XDG_DATA_HOME", c.data)
		t.Setenv("HOME", c.home)
		var said strings.Builder
		folder := (&UpCmd{History: c.flag}).history(&said)
		if string(folder) != c.want || !strings.Contains(said.String(), c.said) || (said.Len() > 0) != (c.said != "") {
			t.Errorf("%s: the history is in %q, want %q; said: %q", name, folder, c.want, said.String())
		}
	}
}
