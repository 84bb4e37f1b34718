package measure

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"regexp"
	"slices"
)

// around reads what a Markdown file has before and after a block, which stands between
// the lines <!-- NAME: … --> and <!-- /NAME -->. These stay with what is around it; a
// file that is not there yet is those two.
func around(file, name string) (before, after string, err error) {
	if info, err := os.Stat(file); errors.Is(err, fs.ErrNotExist) || err == nil && !info.Mode().IsRegular() {
		return "<!-- " + name + ": written by seckill -->\n", "<!-- /" + name + " -->\n", nil
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return "", "", err
	}
	found := regexp.MustCompile(`(?s)^(.*<!-- ` + name + `: [^\n]*-->\n).*(<!-- /` + name + ` -->.*)$`).FindSubmatch(text)
	if found == nil {
		return "", "", fmt.Errorf("%s: there are no lines <!-- %s: … --> and <!-- /%[2]s --> to write between", file, name)
	}
	return string(found[1]), string(found[2]), nil
}

// CheckBlock says why a Markdown file has no place for a block.
func CheckBlock(file, name string) error {
	_, _, err := around(file, name)
	return err
}

// WithBlock writes a Markdown file as it is now, with what block writes between
// its marks.
func WithBlock(file, name string, block func(io.Writer) error) func(io.Writer) error {
	return func(w io.Writer) error {
		before, after, err := around(file, name)
		if err != nil {
			return err
		}
		_, first := io.WriteString(w, before)
		second := block(w)
		_, last := io.WriteString(w, after)
		return errors.Join(first, second, last)
	}
}

// WithMember writes a file that holds a JSON object, if there is one, with this
// member in place of the one of that name.
func WithMember(file, name string, value any) func(io.Writer) error {
	return func(w io.Writer) error {
		all := map[string]json.RawMessage{}
		text, err := os.ReadFile(file)
		if err == nil {
			err = json.Unmarshal(text, &all)
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("%s: %w", file, err)
		}
		if all[name], err = json.Marshal(value); err != nil {
			return err
		}
		for i, member := range slices.Sorted(maps.Keys(all)) { // a line each, so that a change shows where it is
			open := ",\n"
			if i == 0 {
				open = "{"
			}
			if _, err := fmt.Fprintf(w, "%s%q:%s", open, member, all[member]); err != nil {
				return err
			}
		}
		_, err = io.WriteString(w, "}\n")
		return err
	}
}
