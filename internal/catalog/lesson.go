package catalog

import (
	"fmt"
	"strings"
)

// Languages are those in which everything is taught.
var Languages = []string{"en", "zh"}

// Lesson is what a strategy teaches, as Markdown: the file beside its own,
// for_update.zh.md beside for_update.go. It is an error if there is none.
func (i Info) Lesson(language string) (string, error) {
	text, err := i.Files.ReadFile(i.stem() + "." + language + ".md")
	if err != nil {
		return "", fmt.Errorf("the lesson of %s: %w", i.Name, err)
	}
	return string(text), nil
}

// TitleIn is the strategy's title in a language: the heading of its lesson, or
// Name if it has none.
func (i Info) TitleIn(language string) string {
	text, err := i.Lesson(language)
	first, _, _ := strings.Cut(text, "\n")
	heading, found := strings.CutPrefix(first, "# ")
	if err != nil || !found {
		return i.Name
	}
	return heading
}

// Sources are the names of the files that run, the strategy's own one first.
func (i Info) Sources() []string {
	return append([]string{i.stem() + ".go"}, i.Also...)
}

func (i Info) stem() string { return strings.ReplaceAll(i.Name, "-", "_") }
