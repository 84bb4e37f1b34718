package strategies_test

import (
	"io/fs"
	"slices"
	"strings"
	"testing"

	"seckill/internal/catalog"
	"seckill/internal/prove"
	"seckill/strategies"
)

// What the page, the command line and the matrix read must be there.
func TestEveryInfoIsComplete(t *testing.T) {
	seen := map[string]bool{}
	for _, info := range strategies.All() {
		t.Run(info.Name, func(t *testing.T) {
			if seen[info.Name] {
				t.Error("the name is taken twice")
			}
			seen[info.Name] = true
			for field, text := range map[string]string{"Name": info.Name, "Title": info.Title, "Family": info.Family,
				"Source": info.Source, "Idea": info.Idea, "Promises": info.Promises, "Breaks": info.Breaks,
				"Stock": string(info.Stock)} {
				if text == "" {
					t.Errorf("%s is empty", field)
				}
			}
			if len(info.Needs) == 0 {
				t.Error("Needs is empty")
			}
			for _, q := range []catalog.Question{catalog.Oversell, catalog.LostUpdate, catalog.Processes, catalog.OtherSKUs} {
				if info.Guarantees[q] == "" {
					t.Errorf("%s is left open: every strategy is asked", q)
				}
			}
			for q := range info.Guarantees {
				if !slices.ContainsFunc(prove.Questions(), func(asked prove.Question) bool { return asked.ID == string(q) }) {
					t.Errorf("it says something about %q, which the proof does not ask", q)
				}
			}
			if (info.New == nil) == (info.Locker == nil) || (info.Locker == nil) != (info.Key == nil) {
				t.Error("either New, or Locker and Key")
			}
			checkFiles(t, info)
		})
	}
}

// The embedded source is shown beside others: it must be narrow, and its own.
func checkFiles(t *testing.T, info catalog.Info) {
	files := 0
	fs.WalkDir(info.Files, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		files++
		text, err := info.Files.ReadFile(path)
		if err != nil {
			t.Error(err)
		}
		if strings.HasSuffix(path, ".md") { // prose, which the page folds
			return nil
		}
		for i, line := range strings.Split(string(text), "\n") {
			if wide := len([]rune(strings.ReplaceAll(line, "\t", "    "))); wide > 84 {
				t.Errorf("%s:%d is %d columns wide: the page shows it", path, i+1, wide)
			}
		}
		return nil
	})
	if files == 0 {
		t.Error("no source is embedded")
	}
}
