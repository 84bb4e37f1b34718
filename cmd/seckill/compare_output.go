package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"seckill/loadtest/compare"
	"seckill/web"
)

// CompareOutput is where a comparison goes.
type CompareOutput struct {
	HTML     string `name:"html" default:"seckill-compare.html" help:"The report, one page that needs nothing else; --html= writes none." group:"output" placeholder:"FILE"`
	JSON     string `name:"json" placeholder:"FILE" help:"Write the result as JSON; - is standard output, in place of the table." group:"output"`
	CSV      string `name:"csv" placeholder:"FILE" help:"Write every round's figures as CSV; - is standard output." group:"output"`
	Markdown string `placeholder:"FILE" help:"Write the tables as Markdown; - is standard output." group:"output"`
	Matrix   string `placeholder:"FILE" help:"A matrix of seckill prove --json for the report. Without it: the one that the program was built with." group:"output"`
	Quiet    bool   `short:"q" help:"No progress." group:"output"`

	matrix *compare.Matrix
}

type output struct {
	flag, file string
	write      func(io.Writer) error
}

func (o *CompareOutput) outputs(r *compare.Result) []output {
	return []output{
		{"--json", o.JSON, r.WriteJSON},
		{"--html", o.HTML, func(w io.Writer) error { return r.WriteHTML(w, o.matrix) }},
		{"--markdown", o.Markdown, r.WriteMarkdown},
		{"--csv", o.CSV, r.WriteCSV},
	}
}

func (o *CompareOutput) check() (err error) {
	seen := map[string]string{}
	for _, out := range o.outputs(&compare.Result{}) {
		if other, twice := seen[out.file]; twice && out.file != "" {
			return fmt.Errorf("%s and %s are both %q: give each a place of its own", other, out.flag, out.file)
		}
		seen[out.file] = out.flag
	}
	o.matrix, err = o.readMatrix()
	return err
}

func (o *CompareOutput) readMatrix() (*compare.Matrix, error) {
	if o.Matrix != "" {
		f, err := os.Open(o.Matrix)
		if err != nil {
			return nil, fmt.Errorf("--matrix: %w", err)
		}
		defer f.Close()
		m, err := compare.ReadMatrix(f)
		if err != nil {
			return nil, fmt.Errorf("--matrix %s: %w", o.Matrix, err)
		}
		return m, nil
	}
	return guarantees()
}

// guarantees is the matrix that the program was built with, or nil.
func guarantees() (*compare.Matrix, error) {
	f, err := web.Guarantees().Open("matrix.json")
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil // built before it was computed
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return compare.ReadMatrix(f)
}

// prepare tries where the results go before the work, not after it.
func (o *CompareOutput) prepare() error {
	for _, out := range o.outputs(&compare.Result{}) {
		if out.file == "" || out.file == "-" {
			continue
		}
		if err := try(out.file); err != nil {
			return fmt.Errorf("%s: the result could not be written there: %w", out.flag, err)
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
		return err
	}
	return errors.Join(f.Close(), os.Remove(f.Name()))
}

// special: a device or a pipe (or a folder, which fails), written to as it is.
func special(file string) bool {
	info, err := os.Stat(file)
	return err == nil && !info.Mode().IsRegular()
}

// write writes everything everywhere. What could not be written goes to a file
// of its own, or to standard output: minutes of measuring are not lost.
func (o *CompareOutput) write(stdout io.Writer, r *compare.Result) error {
	var errs []error
	table := true
	for _, out := range o.outputs(r) {
		switch out.file {
		case "":
			continue
		case "-":
			table = false
			if err := out.write(stdout); err != nil {
				errs = append(errs, fmt.Errorf("%s: standard output: %w", out.flag, err))
			}
		default:
			if err := replace(out.file, out.write); err != nil {
				errs = append(errs, fmt.Errorf("%s: the result could not be written: %w", out.flag, err))
			}
		}
	}
	if table {
		if err := r.WriteText(stdout); err != nil {
			errs = append(errs, fmt.Errorf("standard output: %w", err))
		}
	}
	if len(errs) == 0 {
		if o.HTML != "" && o.HTML != "-" && table {
			fmt.Fprintf(stdout, "Report: %s\n", o.HTML)
		}
		return nil
	}
	return errors.Join(append(errs, rescue(stdout, r, table))...)
}

// replace leaves the older file as it was when the new one cannot be written
// completely.
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

// rescue keeps the whole result, from which every report can be made again.
func rescue(stdout io.Writer, r *compare.Result, mayPrint bool) error {
	f, err := os.CreateTemp("", "seckill-compare-*.json")
	if err == nil {
		if err = errors.Join(r.WriteJSON(f), f.Close()); err == nil {
			return fmt.Errorf("the whole result is in %s", f.Name())
		}
		_ = os.Remove(f.Name())
	}
	if !mayPrint {
		return fmt.Errorf("nor in a file of its own: %w", err)
	}
	if printed := r.WriteJSON(stdout); printed != nil {
		return errors.Join(err, printed)
	}
	return fmt.Errorf("the whole result is on standard output, as JSON, because of: %w", err)
}
