package main

import (
	"encoding/json"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var (
	goFile  = regexp.MustCompile("`([a-z_/]+\\.go)`")
	theCode = regexp.MustCompile("`([A-Za-z]+)\\(\\)`")
)

// Each step of the paths in docs/architecture.md names one file and functions
// that are there.
func TestPathsOfTheArchitecture(t *testing.T) {
	for _, path := range []struct {
		title string
		most  int // files
	}{{"A purchase", 8}, {"One load run", 12}, {"One cell of the proof", 12}} {
		_, text, found := strings.Cut(page(t, "docs/architecture.md"), "\n## "+path.title+"\n")
		if !found {
			t.Errorf("there is no path %q", path.title)
			continue
		}
		text, _, _ = strings.Cut(text, "\n## ")
		files := map[string]bool{}
		for _, step := range itemsOf(text) {
			named := goFile.FindAllStringSubmatch(step, -1)
			if len(named) != 1 {
				t.Errorf("%s: a step names %d files, want one: %s", path.title, len(named), step)
				continue
			}
			file := named[0][1]
			files[file] = true
			has := functions(t, file)
			for _, m := range theCode.FindAllStringSubmatch(step, -1) {
				if !slices.Contains(has, m[1]) {
					t.Errorf("%s: %s has no function %s, only %q", path.title, file, m[1], has)
				}
			}
		}
		if len(files) < 5 || len(files) > path.most {
			t.Errorf("%s: %d files, want 5 to %d", path.title, len(files), path.most)
		}
	}
}

// itemsOf are the items of a numbered list.
func itemsOf(text string) (list []string) {
	item := regexp.MustCompile(`^\d+\. `)
	for line := range strings.Lines(text) {
		switch {
		case item.MatchString(line):
			list = append(list, line)
		case len(list) > 0 && strings.HasPrefix(line, "   "):
			list[len(list)-1] += line
		case strings.TrimSpace(line) != "" && len(list) > 0:
			return list
		}
	}
	return list
}

// functions are those that a file declares, methods too.
func functions(t *testing.T, file string) (names []string) {
	t.Helper()
	parsed, err := parser.ParseFile(token.NewFileSet(), filepath.Join(root, file), nil, parser.SkipObjectResolution)
	if err != nil {
		t.Error(err)
		return nil
	}
	for _, d := range parsed.Decls {
		if f, ok := d.(*ast.FuncDecl); ok {
			names = append(names, f.Name.Name)
		}
	}
	return names
}

// The diagram of docs/architecture.md has every package once, and imports go
// to lower lines only.
func TestDiagramOfTheArchitecture(t *testing.T) {
	_, rest, _ := strings.Cut(page(t, "docs/architecture.md"), "\n## Packages\n")
	line := map[string]int{}
	for i, text := range strings.Split(fence.FindString(rest), "\n") {
		for _, word := range strings.Fields(text) {
			if word != "strategies" && !strings.Contains(word, "/") && word != "loadtest" && word != "web" {
				continue // the line's title
			}
			if _, twice := line[word]; twice {
				t.Errorf("%s is in the diagram twice", word)
			}
			line[word] = i
		}
	}
	seen := map[string]bool{}
	for _, p := range ourPackages(t) {
		at, known := line[p.name]
		if seen[p.name] = true; !known {
			t.Errorf("%s is not in the diagram", p.name)
			continue
		}
		for _, other := range p.imports {
			if line[other] <= at {
				t.Errorf("%s imports %s, which does not stand below it", p.name, other)
			}
		}
	}
	for name := range line {
		if !seen[name] {
			t.Errorf("%s is in the diagram, and no package", name)
		}
	}
}

type goPackage struct {
	name    string
	imports []string // of ours
}

// ourPackages are all but those that serve tests only.
func ourPackages(t *testing.T) (all []goPackage) {
	t.Helper()
	out, err := exec.Command("go", "list", "-json=ImportPath,Imports,GoFiles", "seckill/...").Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	for list := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p struct {
			ImportPath       string
			Imports, GoFiles []string
		}
		if err := list.Decode(&p); errors.Is(err, io.EOF) {
			return all
		} else if err != nil {
			t.Fatal(err)
		}
		one := goPackage{name: strings.TrimPrefix(p.ImportPath, "seckill/")}
		if len(p.GoFiles) == 0 || strings.HasSuffix(one.name, "test") && one.name != "loadtest" {
			continue
		}
		for _, other := range p.Imports {
			if name, ours := strings.CutPrefix(other, "seckill/"); ours {
				one.imports = append(one.imports, name)
			}
		}
		all = append(all, one)
	}
}
