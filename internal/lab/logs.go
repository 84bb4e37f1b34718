package lab

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// withLog adds the end of a process's log to an error, and saves the log from
// the lab's folder, which goes when the start has failed.
func withLog(err error, name, file string) error {
	text, readErr := os.ReadFile(file)
	if readErr != nil {
		return fmt.Errorf("%w (and its log cannot be read: %w)", err, readErr)
	}
	text = bytes.TrimSpace(text)
	if len(text) == 0 {
		return fmt.Errorf("%w; it logged nothing", err)
	}
	if kept, ok := keepLog(name, text); ok {
		file = kept
	}
	return fmt.Errorf("%w; its log %s ends:\n    %s", err, file, strings.Join(lastWords(string(text)), "\n    "))
}

var goStack = regexp.MustCompile(`(?m)^goroutine \d+ \[`)

// lastWords are the last lines without stack traces, Go's or Java's, which say
// nothing to somebody who only wants a lab.
func lastWords(text string) []string {
	if stack := goStack.FindStringIndex(text); stack != nil {
		text = text[:stack[0]]
	}
	lines := slices.DeleteFunc(strings.Split(strings.TrimSpace(text), "\n"), func(line string) bool {
		return strings.TrimSpace(line) == "" || strings.HasPrefix(line, "\tat ")
	})
	return lines[max(0, len(lines)-8):]
}

// keepLog has one file a name, so that failures do not pile up.
func keepLog(name string, text []byte) (file string, ok bool) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", false
	}
	folder := filepath.Join(cache, "seckill", "failed")
	file = filepath.Join(folder, name+".log")
	if os.MkdirAll(folder, 0o700) != nil || os.WriteFile(file, append(text, '\n'), 0o600) != nil {
		return "", false
	}
	return file, true
}
