package loadtest

import (
	"errors"
	"io"
	"os"
	"strings"

	"seckill/internal/yamlfile"
)

// ReadScenario reads a Scenario from a YAML file over base, with the fields' names
// from their tags. Unknown fields are refused; missing ones keep base's value. The
// error is an ErrConfig.
func ReadScenario(path string, base Scenario) (Scenario, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return base, configError("%v", err)
	}
	s, err := parseScenario(data, base)
	if err != nil {
		return base, configError("%s: %v", path, err)
	}
	return s, nil
}

func parseScenario(data []byte, base Scenario) (Scenario, error) {
	err := yamlfile.Decode(data, &base)
	switch {
	case errors.Is(err, io.EOF):
		err = errors.New("there is nothing in it")
	case err != nil: // the library shows a page of source below its line
		text, _, _ := strings.Cut(err.Error(), "\n")
		err = errors.New(text)
	}
	return base, err
}
