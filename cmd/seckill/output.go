package main

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"seckill/internal/measure"
)

// Output says where the result of a command goes.
type Output struct {
	JSON     string `name:"json" placeholder:"FILE" help:"Write the result as JSON; - is standard output." group:"output"`
	Markdown string `placeholder:"FILE" help:"Write it as Markdown, between its marks if the file exists; - is standard output." group:"output"`
	CSV      string `name:"csv" placeholder:"FILE" help:"Write the figures as CSV; - is standard output." group:"output"`
	Figures  string `placeholder:"FILE" help:"Put the figures into a JSON file, as the page reads them." group:"rare"`
	Quiet    bool   `short:"q" help:"No progress." group:"output"`
}

type form struct {
	flag, file string // file: empty for none, - for standard output
	write      func(io.Writer) error
}

// forms are those in which a result is written.
type forms []form

func (o Output) forms(r measure.Report) forms {
	markdown := r.WriteMarkdown
	if o.Markdown != "-" {
		markdown = measure.WithBlock(o.Markdown, r.Name, r.WriteMarkdown)
	}
	return forms{{"--json", o.JSON, r.WriteJSON}, {"--markdown", o.Markdown, markdown}, {"--csv", o.CSV, r.WriteCSV},
		{"--figures", o.Figures, measure.WithMember(o.Figures, r.Name, cmp.Or(r.Figures, r.JSON))}}
}

// check finds two forms at one place, a Markdown file without the marks of name, and
// what could not be written after the work.
func (o Output) check(name string) error {
	seen := map[string]string{}
	for _, f := range o.forms(measure.Report{}) {
		place := filepath.Clean(f.file) // a and ./a are one
		if other, twice := seen[place]; twice && f.file != "" {
			return fmt.Errorf("%s and %s are both %q: give each a place of its own", other, f.flag, f.file)
		}
		if f.file != "" {
			seen[place] = f.flag
		}
	}
	if o.Markdown != "" && o.Markdown != "-" {
		if err := measure.CheckBlock(o.Markdown, name); err != nil {
			return fmt.Errorf("--markdown: %w", err)
		}
	}
	return o.forms(measure.Report{}).prepare()
}

// prepare fails before the work if a form could not be written after it.
func (all forms) prepare() error {
	for _, f := range all {
		if f.file == "" || f.file == "-" {
			continue
		}
		if err := try(f.file); err != nil {
			return fmt.Errorf("%s: the result could not be written there: %w", f.flag, err)
		}
	}
	return nil
}

// try opens a file for writing, and leaves nothing behind.
func try(file string) error {
	_, missing := os.Stat(file)
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE, 0o644)
	if err != nil {
		return err
	}
	if err = f.Close(); missing != nil {
		err = errors.Join(err, os.Remove(file))
	}
	return err
}

func (o Output) write(stdout io.Writer, r measure.Report) error {
	return o.forms(r).write(stdout, r.WriteText)
}

// write writes all forms, and the text if none of them is for standard output. One that
// fails does not keep the others from being written.
func (all forms) write(stdout io.Writer, text func(io.Writer) error) error {
	var errs []error
	printed := true
	for _, f := range all {
		switch f.file {
		case "":
		case "-":
			printed = false
			if err := f.write(stdout); err != nil {
				errs = append(errs, fmt.Errorf("%s: standard output: %w", f.flag, err))
			}
		default:
			if err := writeFile(f.file, f.write); err != nil {
				errs = append(errs, fmt.Errorf("%s: the result could not be written: %w", f.flag, err))
			}
		}
	}
	if printed {
		if err := text(stdout); err != nil {
			errs = append(errs, fmt.Errorf("standard output: %w", err))
		}
	}
	return errors.Join(errs...)
}

// writeFile writes a file that the text itself may be made from.
func writeFile(file string, write func(io.Writer) error) error {
	var text bytes.Buffer
	if err := write(&text); err != nil {
		return err
	}
	return os.WriteFile(file, text.Bytes(), 0o644)
}
