package game

import (
	"embed"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"strings"
)

// A Line of a choice's code, beside that of the hole.
type Line struct {
	// Mark is "" for a line that both have, "+" for one of the choice alone, and
	// "-" for one of the hole alone.
	Mark string `json:"mark"`
	Text string `json:"text"`
}

// shown is the text of some functions, as they are compiled: the body of each,
// one after the other. A name is "function" or "type.method".
func shown(files embed.FS, names []string) (lines []string, err error) {
	bodies := map[string]string{}
	paths, err := fs.Glob(files, "*.go")
	if err != nil {
		return nil, err
	}
	for _, path := range paths {
		text, err := files.ReadFile(path)
		if err != nil {
			return nil, err
		}
		set := token.NewFileSet()
		parsed, err := parser.ParseFile(set, path, text, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		for _, d := range parsed.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok || f.Body == nil {
				continue
			}
			from, to := set.Position(f.Body.Lbrace).Offset, set.Position(f.Body.Rbrace).Offset
			bodies[nameOf(f)] = string(text[from+1 : to])
		}
	}
	for i, name := range names {
		body, ok := bodies[name]
		if !ok {
			return nil, fmt.Errorf("its source has no function %q", name)
		}
		if i > 0 {
			lines = append(lines, "")
		}
		for line := range strings.SplitSeq(strings.Trim(body, "\n"), "\n") {
			lines = append(lines, strings.ReplaceAll(strings.TrimPrefix(line, "\t"), "\t", "    "))
		}
	}
	return lines, nil
}

func nameOf(f *ast.FuncDecl) string {
	if f.Recv == nil {
		return f.Name.Name
	}
	t := f.Recv.List[0].Type
	if star, ok := t.(*ast.StarExpr); ok {
		t = star.X
	}
	if id, ok := t.(*ast.Ident); ok {
		return id.Name + "." + f.Name.Name
	}
	return f.Name.Name
}

// compared is b beside a: a longest common subsequence, what went before what came.
func compared(a, b []string) (lines []Line) {
	common := make([][]int, len(a)+1) // of a[i:] and b[j:]
	for i := range common {
		common[i] = make([]int, len(b)+1)
	}
	for i := len(a) - 1; i >= 0; i-- {
		for j := len(b) - 1; j >= 0; j-- {
			common[i][j] = max(common[i+1][j], common[i][j+1])
			if a[i] == b[j] {
				common[i][j] = common[i+1][j+1] + 1
			}
		}
	}
	i, j := 0, 0
	for i < len(a) || j < len(b) {
		switch {
		case i < len(a) && j < len(b) && a[i] == b[j]:
			lines = append(lines, Line{"", a[i]})
			i, j = i+1, j+1
		case i < len(a) && (j == len(b) || common[i+1][j] >= common[i][j+1]):
			lines = append(lines, Line{"-", a[i]})
			i++
		default:
			lines = append(lines, Line{"+", b[j]})
			j++
		}
	}
	return lines
}
