package internal_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// readsEnvironment also matches what reads HOME or TMPDIR.
var readsEnvironment = regexp.MustCompile(`\b(?:os|syscall)\.(?:Getenv|LookupEnv|Environ|ExpandEnv|User(?:Home|Cache|Config)Dir|TempDir)\b|` +
	`os\.(?:MkdirTemp|CreateTemp)\(""`)

// The environment is read in cmd only; everything else is given what it needs.
// Packages that serve tests may read it.
func TestEnvironmentIsReadInCmdOnly(t *testing.T) {
	const root = ".."
	read := 0
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		name, _ := filepath.Rel(root, path)
		switch {
		case err != nil:
			return err
		case entry.IsDir() && (name == "cmd" || strings.HasSuffix(name, "test") || strings.HasPrefix(entry.Name(), ".") && name != "."):
			return filepath.SkipDir
		case entry.IsDir() || filepath.Ext(name) != ".go" || strings.HasSuffix(name, "_test.go"):
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		read++
		for i, line := range strings.Split(string(text), "\n") {
			if found := readsEnvironment.FindString(line); found != "" {
				t.Errorf("%s:%d: %s reads the environment: have cmd pass it in", name, i+1, found)
			}
		}
		return nil
	})
	if err != nil || read < 100 {
		t.Fatalf("read %d files: %v", read, err)
	}
}
