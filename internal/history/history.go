// Package history keeps what a lab measured beyond its end: a folder with a
// JSON file for each entry, so that people can copy, send and delete them.
package history

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
)

// A Kind of entry; the names of its files begin with it.
type Kind string

const (
	Run        Kind = "run"
	Comparison Kind = "comparison"
	Trace      Kind = "trace"
)

// A Folder holds entries, and is made with the first. "" keeps nothing. Several labs
// may use one folder at a time.
type Folder string

// format is what this program writes, and reads.
const format = 1

type content[T any] struct {
	Format int `json:"seckill_history"`
	Entry  T   `json:"entry"`
}

func (f Folder) file(kind Kind, id string) string {
	return filepath.Join(string(f), string(kind)+"-"+id+".json")
}

// Put keeps a new entry. It does nothing where nothing is kept.
func (f Folder) Put(kind Kind, id string, entry any) error {
	if f == "" {
		return nil
	}
	text, err := json.Marshal(content[any]{format, entry})
	if err != nil {
		return err
	}
	if err := os.MkdirAll(string(f), 0o700); err != nil {
		return err
	}
	return os.WriteFile(f.file(kind, id), text, 0o600)
}

// Remove takes an entry out, if it can.
func (f Folder) Remove(kind Kind, id string) {
	if f != "" {
		_ = os.Remove(f.file(kind, id))
	}
}

// Load returns every entry of a kind, by its id. Files that are no such entry (of
// another program or version, or half written when a lab was killed or the disk was
// full) are left alone.
func Load[T any](f Folder, kind Kind) map[string]T {
	all := map[string]T{}
	if f == "" {
		return all
	}
	files, _ := os.ReadDir(string(f)) // it may not be there yet
	for _, file := range files {
		id, ours := strings.CutPrefix(strings.TrimSuffix(file.Name(), ".json"), string(kind)+"-")
		if !ours || !file.Type().IsRegular() { // reading a pipe would not end
			continue
		}
		text, err := os.ReadFile(filepath.Join(string(f), file.Name()))
		var read content[T]
		if err == nil && json.Unmarshal(text, &read) == nil && read.Format == format {
			all[id] = read.Entry
		}
	}
	return all
}
