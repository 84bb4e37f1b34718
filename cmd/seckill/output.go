package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"seckill/internal/measure"
)

// Output says where the result of a command goes.
type Output struct {
	JSON     string `name:"json" placeholder:"FILE" help:"Write the result as JSON; - is standard output." group:"output"`
	Markdown string `placeholder:"FILE" help:"Write it as Markdown; - is standard output." group:"output"`
	CSV      string `name:"csv" placeholder:"FILE" help:"Write the figures as CSV; - is standard output." group:"output"`
	Readme   string `placeholder:"FILE" help:"Put the table between its marks in a Markdown file." group:"rare"`
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
	return forms{
		{"--json", o.JSON, r.WriteJSON}, {"--markdown", o.Markdown, r.WriteMarkdown}, {"--csv", o.CSV, r.WriteCSV},
		{"--readme", o.Readme, measure.WithBlock(o.Readme, r.Name, r.WriteBlock)}, {"--figures", o.Figures, measure.WithMember(o.Figures, r.Name, r.Figures)},
	}
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
	if o.Readme != "" {
		if err := measure.CheckBlock(o.Readme, name); err != nil {
			return fmt.Errorf("--readme: %w", err)
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

// try leaves nothing behind.
func try(file string) error {
	if special(file) {
		f, err := os.OpenFile(file, os.O_WRONLY, 0)
		if err != nil {
			return err
		}
		return f.Close()
	}
	f, err := os.CreateTemp(filepath.Dir(file), ".seckill-*")
	if err != nil {
		var why *fs.PathError
		if errors.As(err, &why) {
			why.Path = file // not that of the trial
		}
		return err
	}
	return errors.Join(f.Close(), os.Remove(f.Name()))
}

// special reports a device or a pipe, which is written to as it is, or a folder.
func special(file string) bool {
	info, err := os.Stat(file)
	return err == nil && !info.Mode().IsRegular()
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
			if err := replace(f.file, f.write); err != nil {
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

// replace leaves the older file as it was if the new one cannot be written in
// full.
func replace(file string, write func(io.Writer) error) (err error) {
	if special(file) {
		f, err := os.OpenFile(file, os.O_WRONLY, 0)
		if err != nil {
			return err
		}
		return errors.Join(write(f), f.Close())
	}
	if target, err := filepath.EvalSymlinks(file); err == nil {
		file = target // not the link
	}
	f, err := os.CreateTemp(filepath.Dir(file), ".seckill-*")
	if err != nil {
		return err
	}
	mode := fs.FileMode(0o644)
	if old, err := os.Stat(file); err == nil {
		mode = old.Mode().Perm()
	}
	if err = errors.Join(write(f), f.Chmod(mode), f.Sync(), f.Close()); err == nil {
		err = os.Rename(f.Name(), file)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return nil
}
