// Package history keeps what a lab measured beyond its end: a folder with a
// JSON file for each entry, so that people can copy, send and delete them.
package history

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// A Kind of entry; the names of its files begin with it.
type Kind string

const (
	Run        Kind = "run"
	Comparison Kind = "comparison"
	Trace      Kind = "trace"
)

// A Folder holds entries. Several labs may use one folder at a time: an entry
// is there as a whole or not at all.
type Folder struct {
	dir string
}

// Open names the folder; it is made with its first entry. "" keeps nothing.
func Open(dir string) *Folder { return &Folder{dir} }

// Dir is where the entries are, "" if nothing is kept.
func (f *Folder) Dir() string { return f.dir }

const (
	format     = 1
	unfinished = ".seckill-" // begins the name of a file that is being written
	// mostBytes bounds what is read as an entry; a comparison of all
	// strategies has a hundredth of it.
	mostBytes = 64 << 20
)

// An envelope is what a file has: enough to tell it from a foreign one.
type envelope struct {
	Format int             `json:"seckill_history"`
	Kind   Kind            `json:"kind"`
	ID     string          `json:"id"`
	Entry  json.RawMessage `json:"entry"`
}

func (f *Folder) file(kind Kind, id string) string {
	return filepath.Join(f.dir, string(kind)+"-"+id+".json")
}

// Put keeps an entry, in place of one of the same id. When it fails (the disk
// is full, the folder may not be written), an older one is as it was. It does
// nothing where nothing is kept.
func (f *Folder) Put(kind Kind, id string, entry any) error {
	if f.dir == "" {
		return nil
	}
	data, err := json.Marshal(entry)
	if err == nil {
		data, err = json.Marshal(envelope{format, kind, id, data})
	}
	if err != nil {
		return err
	}
	if err := os.MkdirAll(f.dir, 0o700); err != nil {
		return err
	}
	out, err := os.CreateTemp(f.dir, unfinished)
	if err != nil {
		return err
	}
	_, err = out.Write(data)
	if err = errors.Join(err, out.Sync(), out.Close()); err == nil {
		err = os.Rename(out.Name(), f.file(kind, id))
	}
	if err != nil {
		return errors.Join(err, os.Remove(out.Name()))
	}
	return nil
}

// Get reads one entry. fs.ErrNotExist: there is none.
func (f *Folder) Get(kind Kind, id string, into any) error {
	if f.dir == "" {
		return fs.ErrNotExist
	}
	return f.read(kind, id, into)
}

func (f *Folder) read(kind Kind, id string, into any) error {
	in, err := os.Open(f.file(kind, id))
	if err != nil {
		return err
	}
	defer in.Close()
	data, err := io.ReadAll(io.LimitReader(in, mostBytes+1))
	if err != nil {
		return err
	}
	if len(data) > mostBytes {
		return fmt.Errorf("it has more than %d MiB", mostBytes>>20)
	}
	var e envelope
	switch err := json.Unmarshal(data, &e); {
	case err != nil:
		return fmt.Errorf("it is no whole entry of a lab: %w", err)
	case e.Kind != kind || e.ID != id:
		return errors.New("it is no entry of a lab, or was renamed")
	case e.Format != format:
		return fmt.Errorf("it has format %d, this program knows %d", e.Format, format)
	}
	if err := json.Unmarshal(e.Entry, into); err != nil {
		return fmt.Errorf("it is no %s of this program: %w", kind, err)
	}
	return nil
}

// Remove takes an entry out; one that is not there is none to remove.
func (f *Folder) Remove(kind Kind, id string) error {
	if f.dir == "" {
		return nil
	}
	if err := os.Remove(f.file(kind, id)); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// Load hands every entry of a kind to take, in no order. What cannot be read,
// and what take refuses, is skipped and named in the errors.
func Load[T any](f *Folder, kind Kind, take func(id string, entry T) error) (skipped []error) {
	if f.dir == "" {
		return nil
	}
	files, err := os.ReadDir(f.dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		skipped = append(skipped, err)
	}
	for _, file := range files {
		id, ours := strings.CutPrefix(strings.TrimSuffix(file.Name(), ".json"), string(kind)+"-")
		if !ours {
			continue
		}
		var entry T
		err := errors.New("it is no file")
		if file.Type().IsRegular() { // reading a pipe would not end
			err = f.read(kind, id, &entry)
		}
		if err == nil {
			err = take(id, entry)
		}
		if err != nil {
			skipped = append(skipped, fmt.Errorf("%s: %w", filepath.Join(f.dir, file.Name()), err))
		}
	}
	return skipped
}

// Tidy clears away what was being written when a lab was killed.
func (f *Folder) Tidy() {
	left, _ := filepath.Glob(filepath.Join(f.dir, unfinished+"*"))
	for _, file := range left {
		if info, err := os.Stat(file); err == nil && f.dir != "" && time.Since(info.ModTime()) > time.Hour {
			_ = os.Remove(file) // the next lab tries again
		}
	}
}
