// Command sbom writes the bill of materials of cmd/seckill: every module that is
// linked into it, with version, sum and licence,
// as CycloneDX 1.5 (make sbom). The page's vendored libraries carry their licences themselves. It fails when a licence is not known.
package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

func main() {
	if err := run(os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "sbom:", err)
		os.Exit(1)
	}
}

func run(w io.Writer) error {
	modules, err := linked()
	if err != nil {
		return err
	}
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(bill(modules))
}

// A module is linked into the program.
type module struct{ Path, Version, Sum, Licence string }

type document struct {
	Format     string      `json:"bomFormat"`
	Spec       string      `json:"specVersion"`
	Version    int         `json:"version"`
	Components []component `json:"components"`
}

type component struct {
	Type     string    `json:"type"`
	Name     string    `json:"name"`
	Version  string    `json:"version"`
	PURL     string    `json:"purl"`
	Licences []licence `json:"licenses"`
	Sums     []sum     `json:"properties"`
}

type licence struct {
	Licence struct {
		ID string `json:"id"`
	} `json:"license"`
}

type sum struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

func bill(modules []module) document {
	d := document{Format: "CycloneDX", Spec: "1.5", Version: 1, Components: []component{}}
	for _, m := range modules {
		c := component{Type: "library", Name: m.Path, Version: m.Version, PURL: "pkg:golang/" + m.Path + "@" + m.Version,
			Licences: make([]licence, 1), Sums: []sum{{"go.sum", m.Sum}}}
		c.Licences[0].Licence.ID = m.Licence
		d.Components = append(d.Components, c)
	}
	return d
}

// linked asks the go command, which knows what the build needs, and reads each
// module's licence where the sources are.
func linked() ([]module, error) {
	root, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}").Output()
	if err != nil {
		return nil, fmt.Errorf("go list -m: %w", err)
	}
	list := exec.Command("go", "list", "-deps", "-f", "{{with .Module}}{{if not .Main}}{{.Path}} {{.Version}} {{.Dir}}{{end}}{{end}}", "./cmd/seckill")
	list.Dir, list.Stderr = strings.TrimSpace(string(root)), os.Stderr
	out, err := list.Output()
	if err != nil {
		return nil, fmt.Errorf("go list -deps ./cmd/seckill: %w", err)
	}
	sums, err := os.ReadFile(filepath.Join(list.Dir, "go.sum"))
	if err != nil {
		return nil, err
	}
	lines := strings.FieldsFunc(string(out), func(r rune) bool { return r == '\n' })
	slices.Sort(lines)
	var all []module
	for _, line := range slices.Compact(lines) {
		parts := strings.SplitN(line, " ", 3)
		m := module{Path: parts[0], Version: parts[1]}
		if m.Sum = sumOf(sums, m); m.Sum == "" {
			return nil, fmt.Errorf("%s %s has no sum in go.sum", m.Path, m.Version)
		}
		if m.Licence, err = licenceIn(parts[2]); err != nil {
			return nil, fmt.Errorf("%s: %w", m.Path, err)
		}
		all = append(all, m)
	}
	return all, nil
}

func sumOf(sums []byte, m module) string {
	for lines := bufio.NewScanner(bytes.NewReader(sums)); lines.Scan(); {
		if rest, ok := strings.CutPrefix(lines.Text(), m.Path+" "+m.Version+" "); ok {
			return rest
		}
	}
	return ""
}

// marks are sentences that only one licence has, in the order in which they are
// looked for.
var marks = []struct{ id, text string }{
	{"Apache-2.0", "apache license version 2.0"},
	{"MPL-2.0", "mozilla public license version 2.0"},
	{"MIT", "permission is hereby granted, free of charge, to any person obtaining a copy"},
	{"BSD-3-Clause", "neither the name of"},
	{"BSD-3-Clause", "the name of the author may not be used"},
	{"BSD-2-Clause", "redistribution and use in source and binary forms"},
	{"ISC", "permission to use, copy, modify, and/or distribute this software"},
	{"CC0-1.0", "cc0 1.0 universal"},
	{"Unlicense", "this is free and unencumbered software released into the public domain"},
}

// licenceIn reads the licence of the module whose sources are in a folder.
func licenceIn(folder string) (string, error) {
	files, err := os.ReadDir(folder)
	if err != nil {
		return "", err
	}
	for _, f := range files {
		name := strings.ToLower(f.Name())
		if f.IsDir() || !strings.HasPrefix(name, "licen") && !strings.HasPrefix(name, "copying") && !strings.HasPrefix(name, "unlicense") {
			continue
		}
		text, err := os.ReadFile(filepath.Join(folder, f.Name()))
		if err != nil {
			return "", err
		}
		if id := licenceOf(string(text)); id != "" {
			return id, nil
		}
	}
	return "", fmt.Errorf("no licence that is known is in %s: read it, and add it to marks", folder)
}

func licenceOf(text string) string {
	plain := strings.Join(strings.Fields(strings.ToLower(text)), " ")
	plain = strings.ReplaceAll(plain, ", version", " version")
	for _, m := range marks {
		if strings.Contains(plain, m.text) {
			return m.id
		}
	}
	return ""
}
