package lab

import (
	"strings"
	"testing"

	"seckill/internal/backend"
)

func TestLastWordsHaveNoStackTrace(t *testing.T) {
	for name, c := range map[string]struct{ log, want string }{
		"Go": {"starting\npanic: no space left\n\ngoroutine 1 [running]:\nmain.main()\n\t/src/main.go:28 +0x17\n",
			"starting|panic: no space left"},
		"Java": {"starting\njava.io.IOException: disk full\n\tat java.base/x.Y(Z.java:1)\n\tat main\n",
			"starting|java.io.IOException: disk full"},
		"long": {strings.Repeat("old\n", 100) + "1\n2\n3\n4\n5\n6\n7\n8\n", "1|2|3|4|5|6|7|8"},
	} {
		if got := strings.Join(lastWords(c.log), "|"); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

func TestRoom(t *testing.T) {
	folder := t.TempDir()
	l := &Lab{folder: folder, options: Options{Folder: folder}, programs: map[Tool]Program{MariaDB: {Path: "x"}}}
	l.kinds = l.makeKinds()
	if needed := l.megabytes(backend.Names()); needed != 256 {
		t.Errorf("%d MB are needed, want MariaDB's 256", needed)
	}
	if err := l.hasRoom(1 << 40); err == nil || !strings.Contains(err.Error(), folder) || !strings.Contains(err.Error(), "--folder") {
		t.Errorf("a server that needs more than there is: %v, want where and what to do", err)
	}
	l.options.Embedded = true
	if err := l.checkRoom(backend.Names()); err != nil {
		t.Errorf("the embedded tier: %v", err)
	}
}
