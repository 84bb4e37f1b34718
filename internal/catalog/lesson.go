package catalog

import (
	"fmt"
	"strings"
)

// Languages are those in which everything is taught.
var Languages = []string{"en", "zh"}

// Lesson is what a strategy teaches, as Markdown: the file beside its own,
// for_update.zh.md beside for_update.go. It is among the embedded Files, so a
// strategy that embeds none is an error.
func (i Info) Lesson(language string) (string, error) {
	name := strings.ReplaceAll(i.Name, "-", "_") + "." + language + ".md"
	text, err := i.Files.ReadFile(name)
	if err != nil {
		return "", fmt.Errorf("the lesson of %s: %w", i.Name, err)
	}
	return string(text), nil
}

// TitleIn is the strategy's name in a language: the heading of its lesson, or
// Title if it has none.
func (i Info) TitleIn(language string) string {
	text, err := i.Lesson(language)
	first, _, _ := strings.Cut(text, "\n")
	heading, found := strings.CutPrefix(first, "# ")
	if err != nil || !found {
		return i.Title
	}
	return heading
}
