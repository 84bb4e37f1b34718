// Package yamlfile reads YAML that people write: scenarios and levels.
package yamlfile

import (
	"bytes"
	"errors"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
)

// ErrNoYAML: the library could not even say what is wrong. It panics on some texts,
// such as a mapping with a tag where a list belongs.
var ErrNoYAML = errors.New("this cannot be read as YAML: leave out tags (!name), and indent by spaces")

// Parse reads the structure of a text, with the places of its parts.
func Parse(text []byte) (file *ast.File, err error) {
	defer recovered(&err)
	return parser.ParseBytes(text, 0)
}

// Decode reads a text into a value, and refuses fields that the value does not have.
// Errors are the library's, or ErrNoYAML.
func Decode(text []byte, into any) (err error) {
	defer recovered(&err)
	return yaml.NewDecoder(bytes.NewReader(text), yaml.DisallowUnknownField()).Decode(into)
}

func recovered(err *error) {
	if recover() != nil {
		*err = ErrNoYAML
	}
}
