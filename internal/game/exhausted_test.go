package game_test

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"go/parser"
	"go/scanner"
	"go/token"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"seckill/internal/game"
)

// What the explorer has exhausted takes minutes to search again. A certificate says
// which code it was: TestExhausted compares it, and the slow tests search.
const certificates = "exhausted.json"

// exhaustible are the impossible levels, each with the hash of what is searched and
// of the code that runs.
func exhaustible(t *testing.T) map[string]string {
	t.Helper()
	all := map[string]string{}
	for _, l := range game.Tasks() {
		if l.Impossible {
			all[l.Name] = codeOf(t, l.Setting.Strategy, l.Setting, l.Breaks)
		}
	}
	return all
}

// searchers are the files of this package that decide what is searched, and how.
var searchers = []string{"check.go", "place.go", "setting.go"}

// codeOf is a hash of a search and of what decides its outcome: the strategy's
// package and the explorer, with every package of this module that they import, and
// the versions of the other modules. Comments and layout do not count.
func codeOf(t *testing.T, strategy string, search ...any) string {
	t.Helper()
	sum := sha256.New()
	if err := json.NewEncoder(sum).Encode(search); err != nil {
		t.Fatal(err)
	}
	for _, dir := range withImports(t, "../../strategies/"+named(t, strategy).Family, "../../internal/explore") {
		entries, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			if name := e.Name(); !e.IsDir() && !strings.HasSuffix(name, "_test.go") && !strings.HasSuffix(name, ".md") {
				writeCode(t, sum, filepath.Join(dir, name))
			}
		}
	}
	for _, name := range append(searchers, "../../go.mod") {
		writeCode(t, sum, name)
	}
	return hex.EncodeToString(sum.Sum(nil))[:16]
}

// withImports are dirs and the packages of this module that they import, directly or
// not, sorted.
func withImports(t *testing.T, dirs ...string) []string {
	t.Helper()
	for n := 0; n < len(dirs); n++ { // it grows meanwhile
		files, err := filepath.Glob(dirs[n] + "/*.go")
		if err != nil || len(files) == 0 {
			t.Fatalf("%s has no code: %v", dirs[n], err)
		}
		for _, file := range files {
			if strings.HasSuffix(file, "_test.go") {
				continue
			}
			parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly)
			if err != nil {
				t.Fatal(err)
			}
			for _, i := range parsed.Imports {
				inner, ours := strings.CutPrefix(strings.Trim(i.Path.Value, `"`), "seckill/")
				if dir := "../../" + inner; ours && !slices.Contains(dirs, dir) {
					dirs = append(dirs, dir)
				}
			}
		}
	}
	slices.Sort(dirs)
	return dirs
}

func writeCode(t *testing.T, w io.Writer, path string) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprintf(w, "\x00%s\x00", filepath.Base(path))
	if filepath.Ext(path) != ".go" {
		_, _ = w.Write(text)
		return
	}
	var s scanner.Scanner
	s.Init(token.NewFileSet().AddFile(path, -1, len(text)), text, nil, 0)
	for {
		_, tok, literal := s.Scan()
		if tok == token.EOF {
			return
		}
		fmt.Fprintf(w, "%s %s ", tok, strings.TrimSpace(literal))
	}
}

func readCertificates(t *testing.T) (all map[string]game.Certificate) {
	t.Helper()
	text, err := os.ReadFile(certificates)
	if err == nil {
		err = json.Unmarshal(text, &all)
	}
	if err != nil {
		t.Fatal(err)
	}
	return all
}

var certifying sync.Mutex

// certify keeps what a slow test has exhausted, with -update.
func certify(t *testing.T, name string, schedules int) {
	t.Helper()
	if !*update {
		return
	}
	certifying.Lock()
	defer certifying.Unlock()
	known, code := readCertificates(t), exhaustible(t)
	known[name] = game.Certificate{Schedules: schedules, Code: code[name]}
	maps.DeleteFunc(known, func(name string, _ game.Certificate) bool { return code[name] == "" })
	text, err := json.MarshalIndent(known, "", "\t")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(certificates, append(text, '\n'), 0o644); err != nil {
		t.Fatal(err)
	}
}

// Everything that is said to be impossible was exhausted as it is now.
func TestExhausted(t *testing.T) {
	want, have := exhaustible(t), readCertificates(t)
	for _, name := range slices.Sorted(maps.Keys(want)) {
		if c := have[name]; c.Code != want[name] || c.Schedules < 1 {
			t.Errorf("%s was not exhausted as it is now: make exhaust", name)
		}
	}
	for name := range have {
		if want[name] == "" {
			t.Errorf("%s has a certificate, and is no impossible level: make exhaust", name)
		}
	}
}

// The hash changes with the code and with the search, and not with a comment.
func TestCodeIsHashed(t *testing.T) {
	hash := func(text string) string {
		path := filepath.Join(t.TempDir(), "a.go")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		sum := sha256.New()
		writeCode(t, sum, path)
		return hex.EncodeToString(sum.Sum(nil))
	}
	if was := hash("package a\nvar x = 1 // one\n"); was != hash("package a\n\n// x is one.\nvar x = 1\n") || was == hash("package a\nvar x = 2\n") {
		t.Error("a comment counts, or a number does not")
	}
	if a, b := codeOf(t, "naive", 1), codeOf(t, "naive", 2); a == b {
		t.Error("two searches have one hash")
	}
	hashed := withImports(t, "../../strategies/redislock", "../../internal/explore")
	for _, dir := range []string{"backend", "catalog", "ledger", "lock", "observe", "probe", "seckill", "tap"} {
		if !slices.Contains(hashed, "../../internal/"+dir) {
			t.Errorf("what is in %s does not count: %v", dir, hashed)
		}
	}
}
