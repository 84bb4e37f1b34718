package loadtest

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
)

// A ScenarioFile is a Scenario as it was written down in YAML, with the fields
// of Scenario by the names in their tags. What a file leaves out stays what it
// was; a field that it does not know is refused.
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

// ParseScenario reads data, from the file of this name, over base. Errors say
// which line and field is wrong, and are an ErrConfig. What is impossible as a
// whole Check finds, once flags have been read too: give its error to Explain.
func ParseScenario(name string, data []byte, base Scenario) (*ScenarioFile, error) {
	if len(data) > maxScenarioFile {
		return nil, configError("%s: more than %d bytes are no scenario", name, maxScenarioFile)
	}
	file, err := parser.ParseBytes(data, 0)
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
	decoder := yaml.NewDecoder(bytes.NewReader(data), yaml.DisallowUnknownField())
	if err := decoder.Decode(&f.Scenario); err != nil {
		return nil, f.inLine(err)
	}
	return f, nil
}

// inLine finds the line of a value that could not be read: goccy does not say
// it of what is a text to it, and a time to us.
func (f *ScenarioFile) inLine(err error) error {
	m := quoted.FindStringSubmatch(err.Error())
	if m == nil || position.MatchString(err.Error()) {
		return inLine(f.name, err)
	}
	v := &finder{value: m[1]}
	for _, d := range f.file.Docs {
		ast.Walk(v, d)
	}
	if v.found == nil {
		return inLine(f.name, err)
	}
	return configError("%s:%d: %s: %v", f.name, v.found.GetToken().Position.Line, strings.TrimPrefix(v.found.GetPath(), "$."), err)
}

var quoted = regexp.MustCompile(`^time: .*duration "([^"\n]*)"$`)

// A finder finds the first text of a value.
type finder struct {
	value string
	found ast.Node
}

func (f *finder) Visit(n ast.Node) ast.Visitor {
	if s, ok := n.(*ast.StringNode); ok && f.found == nil && s.Value == f.value {
		f.found = n
	}
	return f
}

// Explain adds to an error of Check where in the file the field is, if the
// file has it.
func (f *ScenarioFile) Explain(err error) error {
	var field *FieldError
	if !errors.As(err, &field) {
		return err
	}
	for path := "$." + field.Field; ; {
		p, err := yaml.PathString(path)
		if err == nil {
			if node, err := p.FilterFile(f.file); err == nil && node != nil {
				return configError("%s:%d: %s: %s", f.name, node.GetToken().Position.Line, field.Field, field.Text)
			}
		}
		cut := strings.LastIndexAny(path, ".[") // what is inside may have been left out
		if cut <= 1 {
			return field
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
