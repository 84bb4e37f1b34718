package lab

import (
	"strings"
	"testing"
)

func TestLastWordsHaveNoStackTrace(t *testing.T) {
	for name, c := range map[string]struct{ log, want string }{
		"Go": {"starting\npanic: no space left\n\ngoroutine 1 [running]:\nmain.main()\n\t/src/main.go:28 +0x17\n",
			"starting|panic: no space left"},
		"Java": {"starting\njava.io.IOException: disk full\n\tat java.base/x.Y(Z.java:1)\n\tat main\n",
			"starting|java.io.IOException: disk full"},
		"long": {strings.Repeat("old\n", 100) + strings.Repeat("new\n", 20), strings.Repeat("new|", 19) + "new"},
	} {
		if got := strings.Join(lastWords(c.log), "|"); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
