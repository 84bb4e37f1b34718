package loadtest

import (
	"bytes"
	"errors"
	"io"
	"os"
	"strings"

	"github.com/goccy/go-yaml"
)

// ReadScenario reads a Scenario from a YAML file over base, with the fields' names
// from their tags. Unknown fields are refused; missing ones keep base's value. The
// error is an ErrConfig.
func ReadScenario(path string, base Scenario) (Scenario, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return base, configError("%v", err)
	}
	s := base
	d := yaml.NewDecoder(bytes.NewReader(data), yaml.DisallowUnknownField())
	if err = d.Decode(&s); err == nil && !errors.Is(d.Decode(new(any)), io.EOF) {
		err = errors.New("there are several documents in it: keep one")
	}
	switch {
	case errors.Is(err, io.EOF):
		return base, configError("%s: there is nothing in it", path)
	case err != nil: // the library shows a page of source below its line
		text, _, _ := strings.Cut(err.Error(), "\n")
		return base, configError("%s: %s", path, text)
	}
	return s, nil
}
