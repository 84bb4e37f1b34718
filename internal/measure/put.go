package measure

import (
	"bytes"
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

// splitBlock cuts a Markdown text at the lines <!-- NAME: … --> and <!-- /NAME -->,
// which stay with what is around them.
func splitBlock(text, name string) (before, block, after string, err error) {
	begins := regexp.MustCompile(`<!-- `+name+`: .*-->\n`).FindAllStringIndex(text, -1)
	ends := regexp.MustCompile(`<!-- /`+name+` -->`).FindAllStringIndex(text, -1)
	lines := fmt.Sprintf("lines <!-- %s: … --> and <!-- /%[1]s -->", name)
	switch {
	case len(begins) > 1 || len(ends) > 1:
		return "", "", "", fmt.Errorf("the %s are there more than once: leave one of each", lines)
	case len(begins) == 0 || len(ends) == 0 || ends[0][0] < begins[0][1]:
		return "", "", "", fmt.Errorf("there are no %s to write between", lines)
	}
	begin, end := begins[0][1], ends[0][0]
	return text[:begin], text[begin:end], text[end:], nil
}

// CheckBlock says why a Markdown file has no place for a block.
func CheckBlock(file, name string) error {
	text, err := os.ReadFile(file)
	if err == nil {
		_, _, _, err = splitBlock(string(text), name)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	return nil
}

// WithBlock writes a Markdown file as it is now, with what block writes between
// its marks.
func WithBlock(file, name string, block func(io.Writer) error) func(io.Writer) error {
	return func(w io.Writer) error {
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		before, _, after, err := splitBlock(string(text), name)
		if err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
		var b bytes.Buffer
		b.WriteString(before)
		if err := block(&b); err != nil {
			return err
		}
		b.WriteString(after)
		_, err = b.WriteTo(w)
		return err
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
