package web

import (
	"io/fs"
	"os/exec"
	"path"
	"strings"
	"testing"

	"seckill/internal/lab/labtest"
)

// TypeScript checks the page's modules, which are JavaScript. It reads the types from their comments and from types/.
func TestTypes(t *testing.T) {
	tsc, err := exec.LookPath("tsc")
	if err != nil {
		t.Fatalf("no tsc was found (run: deploy/deps.sh --tests): %v", err)
	}
	said, err := exec.CommandContext(t.Context(), tsc, "--project", "tsconfig.json", "--pretty", "false", "--listFiles").CombinedOutput()
	var wrong []string
	read := map[string]bool{}
	for line := range strings.Lines(string(said)) {
		line = strings.TrimSpace(line)
		if _, name, ours := strings.Cut(line, "/web/static/"); ours && strings.HasPrefix(line, "/") {
			read[name] = true
		} else if !strings.HasPrefix(line, "/") {
			wrong = append(wrong, line)
		}
	}
	if err != nil {
		t.Errorf("%s: %v\n%s", tsc, err, strings.Join(wrong, "\n"))
	}
	err = fs.WalkDir(Files(), ".", func(name string, _ fs.DirEntry, err error) error {
		if path.Ext(name) == ".js" && !read[name] {
			t.Errorf("%s is not checked: see the lists of files in tsconfig.json", name)
		}
		return err
	})
	labtest.Must(t, err)
}
