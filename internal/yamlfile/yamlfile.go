// Package yamlfile reads YAML that people write: scenarios and levels.
package yamlfile

import (
	"bytes"
	"errors"
	"io"

	"github.com/goccy/go-yaml"
)

// ErrNoYAML: the library could not even say what is wrong. It panics on some texts,
// such as a mapping with a tag where a list belongs.
var ErrNoYAML = errors.New("this cannot be read as YAML: leave out tags (!name), and indent by spaces")

// ErrSeveral: only the first document would be read.
var ErrSeveral = errors.New("there are several documents in it: keep one, without a line --- behind it")

// Decode reads a text of one document into a value, and refuses fields that the value
// does not have. Errors are the library's, or those above.
func Decode(text []byte, into any) (err error) {
	defer func() {
		if recover() != nil {
			err = ErrNoYAML
		}
	}()
	d := yaml.NewDecoder(bytes.NewReader(text), yaml.DisallowUnknownField())
	if err := d.Decode(into); err != nil {
		return err
	}
	if err := d.Decode(new(any)); !errors.Is(err, io.EOF) {
		return ErrSeveral
	}
	return nil
}
