package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// A result has forms that go to files or standard output.
type result struct {
	command string // compare, bench: names a temporary file
	forms   []form
	text    func(io.Writer) error // for standard output, unless a form goes there
	json    func(io.Writer) error // everything, to keep what could not be written
}

type form struct {
	flag, file string // file: empty for none, - for standard output
	write      func(io.Writer) error
}

// check finds two forms at one place.
func (r result) check() error {
	seen := map[string]string{}
	for _, f := range r.forms {
		if other, twice := seen[f.file]; twice && f.file != "" {
			return fmt.Errorf("%s and %s are both %q: give each a place of its own", other, f.flag, f.file)
		}
		seen[f.file] = f.flag
	}
	return nil
}

// prepare fails before the work if a form could not be written after it.
func (r result) prepare() error {
	for _, f := range r.forms {
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
		return err
	}
	return errors.Join(f.Close(), os.Remove(f.Name()))
}

// special reports a device or a pipe, which is written to as it is, or a folder.
func special(file string) bool {
	info, err := os.Stat(file)
	return err == nil && !info.Mode().IsRegular()
}

// write writes all forms. If one fails, the whole result goes to a temporary
// file or to standard output, so that minutes of measuring are not lost. printed
// reports whether the text was written.
func (r result) write(stdout io.Writer) (printed bool, err error) {
	var errs []error
	printed = true
	for _, f := range r.forms {
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
		if err := r.text(stdout); err != nil {
			errs = append(errs, fmt.Errorf("standard output: %w", err))
		}
	}
	if len(errs) > 0 {
		errs = append(errs, r.rescue(stdout, printed))
	}
	return printed, errors.Join(errs...)
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

// rescue keeps the result as JSON, from which every form can be made again. Its
// error says where.
func (r result) rescue(stdout io.Writer, mayPrint bool) error {
	f, err := os.CreateTemp("", "seckill-"+r.command+"-*.json")
	if err == nil {
		if err = errors.Join(r.json(f), f.Close()); err == nil {
			return fmt.Errorf("the whole result is in %s", f.Name())
		}
		_ = os.Remove(f.Name())
	}
	if !mayPrint {
		return fmt.Errorf("nor in a file of its own: %w", err)
	}
	if printed := r.json(stdout); printed != nil {
		return errors.Join(err, printed)
	}
	return fmt.Errorf("the whole result is on standard output, as JSON, because of: %w", err)
}
