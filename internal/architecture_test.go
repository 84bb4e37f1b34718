package internal_test

import (
	"encoding/json"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// Imports run one way; a package may import those named beside it and below
// them, of this module. Test files are free to look everywhere.
var mayImport = map[string][]string{
	"internal/seckill":     {},
	"internal/tap":         {},
	"internal/tap/etcdtap": {"internal/tap"},
	"internal/web":         {"internal/seckill"},
	"internal/sqlerr":      {},
	"internal/zkclient":    {"internal/tap"},
	"internal/backend":     {"internal/seckill", "internal/sqlerr", "internal/tap", "internal/tap/etcdtap", "internal/zkclient"},
	"internal/judge":       {"internal/seckill"},
	"internal/ledger":      {"internal/seckill", "internal/judge", "internal/sqlerr", "internal/tap"},
	"internal/lock":        {"internal/seckill", "internal/ledger", "internal/tap"},
	"internal/catalog":     {"internal/seckill", "internal/judge", "internal/backend", "internal/ledger", "internal/lock"},
	"internal/fault":       {"internal/backend", "internal/catalog", "internal/point", "internal/lab"},
	"internal/point":       {"internal/seckill", "internal/tap", "internal/catalog"},
	"internal/lab":         {"internal/backend", "internal/zkclient"},
	"internal/probe":       {"internal/seckill", "internal/backend", "internal/ledger", "internal/catalog", "internal/tap", "internal/zkclient"},
	"internal/explore": {"internal/httpapi", "internal/judge", "internal/seckill", "internal/backend", "internal/ledger", "internal/lock", "internal/catalog",
		"internal/tap", "internal/probe", "internal/explore/policy"},
	"internal/explore/policy": {},
	"internal/prove": {"internal/probe", "internal/judge", "internal/seckill", "internal/backend", "internal/ledger",
		"internal/lock", "internal/catalog", "internal/tap", "internal/lab", "internal/explore", "internal/tables"},
	"internal/stats":  {"internal/tables"},
	"internal/tables": {},
	"internal/bench":  {"internal/backend", "internal/lock", "internal/seckill", "internal/catalog", "internal/tap", "internal/stats", "internal/tables"},
	"internal/game":   {"internal/backend", "internal/catalog", "internal/explore", "internal/explore/policy", "internal/web"},
	"internal/httpapi": {"internal/judge", "internal/seckill", "internal/backend", "internal/ledger", "internal/catalog",
		"internal/tap", "internal/lock", "internal/web", "internal/point"},
	// The page starts load runs and comparisons in its own process, and keeps their results.
	"internal/labapi": {"internal/backend", "internal/fault", "internal/game", "internal/judge", "internal/lab", "internal/catalog",
		"internal/explore", "internal/stats", "internal/tables", "internal/seckill", "internal/web", "loadtest",
		"loadtest/compare", "web/course"},
	"internal/site":    {"internal/catalog", "internal/game", "internal/httpapi", "web/course"},
	"internal/chaos":   {"internal/catalog", "internal/fault", "internal/lab", "internal/judge", "internal/stats", "internal/tables", "loadtest"},
	"loadtest":         {"internal/seckill", "internal/judge", "internal/backend", "internal/stats", "internal/tables", "internal/tap"},
	"loadtest/compare": {"internal/seckill", "internal/judge", "internal/backend", "internal/stats", "internal/tables", "loadtest"},
	"web":              {},
	"web/course":       {},
}

// A family of strategies imports the contracts, and no other family.
var strategyMayImport = []string{"internal/seckill", "internal/backend", "internal/ledger", "internal/lock",
	"internal/catalog", "internal/sqlerr", "internal/tap", "internal/zkclient"}

// isTestSupport reports whether only tests import a package, by its name: it ends in "test". Such a package may import
// any other, and so may the packages of this test and of the browser's tests.
func isTestSupport(name string) bool {
	return strings.HasSuffix(name, "test") || name == "internal" || name == "web/e2e"
}

func TestImportsRunOneWay(t *testing.T) {
	out, err := exec.Command("go", "list", "-json=ImportPath,Imports", "seckill/...").Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	packages := json.NewDecoder(strings.NewReader(string(out)))
	seen := 0
	for {
		var p struct {
			ImportPath string
			Imports    []string
		}
		if err := packages.Decode(&p); err == io.EOF {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		seen++
		name := strings.TrimPrefix(p.ImportPath, "seckill/")
		allowed, known := mayImport[name]
		switch {
		case name == "strategies", strings.HasPrefix(name, "cmd/"), isTestSupport(name):
			continue // lists all families; wires everything
		case strings.HasPrefix(name, "strategies/"):
			allowed, known = strategyMayImport, true
		}
		if !known {
			t.Errorf("%s is not in this test's list: say what it may import", name)
			continue
		}
		for _, imported := range p.Imports {
			inner, ours := strings.CutPrefix(imported, "seckill/")
			if ours && !slices.Contains(allowed, inner) {
				t.Errorf("%s imports %s: imports run cmd → httpapi, lab, loadtest → catalog, lock, ledger → backend → judge → tap, seckill",
					name, inner)
			}
		}
	}
	if seen < len(mayImport)/2 {
		t.Fatalf("go list named %d packages only", seen)
	}
}

// Work that goes on after the end of a purchase keeps the purchase's tap, and with it the explorer's clock. A real
// timeout would end that work while a player thinks.
func TestNoClockBehindAPurchase(t *testing.T) {
	real := regexp.MustCompile(`context\.WithTimeout\(\s*context\.WithoutCancel`)
	seen := 0
	for _, dir := range []string{"../strategies", "lock", "ledger"} {
		err := filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
			if err != nil || filepath.Ext(path) != ".go" {
				return err
			}
			seen++
			text, err := os.ReadFile(path)
			if real.Match(text) {
				t.Errorf("%s: use tap.WithTimeout", path)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if seen < 50 {
		t.Fatalf("only %d files were read", seen)
	}
}

// readsEnvironment also matches what reads HOME or TMPDIR.
var readsEnvironment = regexp.MustCompile(`\b(?:os|syscall)\.(?:Getenv|LookupEnv|Environ|ExpandEnv|User(?:Home|Cache|Config)Dir|TempDir)\b|` +
	`os\.(?:MkdirTemp|CreateTemp)\(""`)

// The environment is read in cmd only; everything else is given what it needs. Packages that serve tests may read it.
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
