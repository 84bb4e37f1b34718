package loadtest

import (
	"errors"
	"fmt"
	"io"
	"os"
	"reflect"
	"regexp"
	"strings"
	"time"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/token"

	"seckill/internal/yamlfile"
)

// A ScenarioFile is a Scenario read from YAML, with the fields' names from their
// tags. Unknown fields are refused; missing ones keep their value.
type ScenarioFile struct {
	Scenario Scenario
	name     string
	file     *ast.File
}

const maxScenarioFile = 1 << 20

// ReadScenario is ParseScenario of a file.
func ReadScenario(path string, base Scenario) (*ScenarioFile, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, configError("%v", err)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxScenarioFile+1))
	if err != nil {
		return nil, configError("%v", err)
	}
	return ParseScenario(path, data, base)
}

// ParseScenario reads data, from the file of this name, over base. Errors name
// the line and the field, and are an ErrConfig. Call Check once flags have been
// read too, and pass its error to Explain.
func ParseScenario(name string, data []byte, base Scenario) (*ScenarioFile, error) {
	if len(data) > maxScenarioFile {
		return nil, configError("%s: more than %d bytes are no scenario", name, maxScenarioFile)
	}
	file, err := yamlfile.Parse(data)
	if err != nil {
		return nil, inLine(name, err)
	}
	f := &ScenarioFile{Scenario: base, name: name, file: file}
	documents := 0
	for _, d := range file.Docs {
		if d.Body != nil {
			documents++
		}
	}
	switch documents {
	case 0:
		return nil, configError("%s: there is nothing in it", name)
	case 1:
	default:
		return nil, configError("%s: %d documents: write one scenario a file", name, documents)
	}
	if err := yamlfile.Decode(data, &f.Scenario); err != nil {
		return nil, f.inLine(err)
	}
	return f, nil
}

// inLine says which field could not be read, without the decoder's terms.
func (f *ScenarioFile) inLine(err error) error {
	var wrong *yaml.TypeError
	var large *yaml.OverflowError
	var form *yaml.UnexpectedNodeTypeError
	switch m := duration.FindStringSubmatch(err.Error()); {
	case errors.As(err, &wrong):
		return f.wants(wrong.DstType, wrong.Token.Position, wrong.Token.Value)
	case errors.As(err, &large):
		return configError("%s%s is too large or too small", f.place(large.Token.Position), large.Token.Value)
	case errors.As(err, &form) && form.Expected == ast.SequenceType:
		return f.wants(reflect.TypeFor[[]any](), form.Token.Position, form.Token.Value)
	case errors.As(err, &form) && form.Expected == ast.MappingType:
		return f.wants(reflect.TypeFor[map[string]any](), form.Token.Position, form.Token.Value)
	case m != nil: // a wrong duration, whose place goccy does not say
		n := f.find(func(n ast.Node) bool {
			text, ok := n.(*ast.StringNode)
			return ok && text.Value == m[1]
		})
		if n != nil {
			return f.wants(reflect.TypeFor[time.Duration](), n.GetToken().Position, m[1])
		}
	}
	return inLine(f.name, err)
}

var duration = regexp.MustCompile(`^time: .*duration "([^"\n]*)"$`)

func (f *ScenarioFile) wants(t reflect.Type, at *token.Position, got string) error {
	return configError("%s%q is %s", f.place(at), got, inWords(t))
}

// place is the line and the field of what stands at a position.
func (f *ScenarioFile) place(at *token.Position) string {
	field := ""
	n := f.find(func(n ast.Node) bool {
		p := n.GetToken().Position
		return p.Line == at.Line && p.Column == at.Column
	})
	if n != nil {
		field = strings.TrimPrefix(strings.TrimPrefix(n.GetPath(), "$"), ".")
	}
	if field != "" {
		field += ": "
	}
	return fmt.Sprintf("%s:%d: %s", f.name, at.Line, field)
}

// inWords is what a value is not.
func inWords(t reflect.Type) string {
	if t == reflect.TypeFor[time.Duration]() {
		return "no time with its unit, such as 1500ms, 10s or 2m"
	}
	switch t.Kind() {
	case reflect.Bool:
		return "neither true nor false"
	case reflect.String:
		return "no text"
	case reflect.Slice:
		return "no list"
	case reflect.Struct, reflect.Map:
		return "no set of fields"
	case reflect.Float64:
		return "no number"
	}
	return "no whole number"
}

// find is the innermost node for which is holds, or nil.
func (f *ScenarioFile) find(is func(ast.Node) bool) ast.Node {
	v := &finder{is: is}
	for _, d := range f.file.Docs {
		ast.Walk(v, d)
	}
	return v.found
}

type finder struct {
	is    func(ast.Node) bool
	found ast.Node
}

func (f *finder) Visit(n ast.Node) ast.Visitor {
	if f.is(n) {
		f.found = n
	}
	return f
}

// Explain adds to an error of Check the line of its field, if the file has it.
func (f *ScenarioFile) Explain(err error) error {
	var field *FieldError
	if !errors.As(err, &field) {
		return err
	}
	for path := "$." + field.Field; ; {
		if p, bad := yaml.PathString(path); bad == nil {
			if node, bad := p.FilterFile(f.file); bad == nil && node != nil {
				return configError("%s:%d: %s: %s", f.name, node.GetToken().Position.Line, field.Field, field.Text)
			}
		}
		cut := strings.LastIndexAny(path, ".[") // the inner field may be missing
		if cut <= 1 {
			return err
		}
		path = path[:cut]
	}
}

var position = regexp.MustCompile(`^\[(\d+):\d+\] ([^\n]*)`)

// inLine turns goccy's error, which shows a page of source, into one line.
func inLine(name string, err error) error {
	if m := position.FindStringSubmatch(err.Error()); m != nil {
		return fmt.Errorf("%w: %s:%s: %s", ErrConfig, name, m[1], m[2])
	}
	text, _, _ := strings.Cut(err.Error(), "\n")
	return configError("%s: %s", name, text)
}
