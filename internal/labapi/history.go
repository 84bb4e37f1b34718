package labapi

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
)

// A History keeps what a lab measured beyond its end: a folder with a JSON file for
// each entry, so that people can copy, send and delete them. It is made with the
// first; "" keeps nothing. Several labs may use one folder at a time.
type History string

// A kind of entry; the names of its files begin with it.
type kind string

const (
	kindRun        kind = "run"
	kindComparison kind = "comparison"
	kindTrace      kind = "trace"
)

// historyFormat is what this program writes, and reads.
const historyFormat = 1

type historyFile[T any] struct {
	Format int `json:"seckill_history"`
	Entry  T   `json:"entry"`
}

func (h History) fileOf(k kind, id string) string {
	return filepath.Join(string(h), string(k)+"-"+id+".json")
}

// writeEntry keeps a new entry. It does nothing where nothing is kept.
func (h History) writeEntry(k kind, id string, entry any) error {
	if h == "" {
		return nil
	}
	text, err := json.Marshal(historyFile[any]{historyFormat, entry})
	if err != nil {
		return err
	}
	if err := os.MkdirAll(string(h), 0o700); err != nil {
		return err
	}
	return os.WriteFile(h.fileOf(k, id), text, 0o600)
}

// removeEntry takes an entry out, if it can.
func (h History) removeEntry(k kind, id string) {
	if h != "" {
		_ = os.Remove(h.fileOf(k, id))
	}
}

// entriesOf returns every entry of a kind, by its id. Files that are no such entry (of
// another program or version, or half written when a lab was killed or the disk was
// full) are left alone.
func entriesOf[T any](h History, k kind) map[string]T {
	all := map[string]T{}
	if h == "" {
		return all
	}
	files, _ := os.ReadDir(string(h)) // it may not be there yet
	for _, file := range files {
		id, ours := strings.CutPrefix(strings.TrimSuffix(file.Name(), ".json"), string(k)+"-")
		if !ours || !file.Type().IsRegular() { // reading a pipe would not end
			continue
		}
		text, err := os.ReadFile(filepath.Join(string(h), file.Name()))
		var read historyFile[T]
		if err == nil && json.Unmarshal(text, &read) == nil && read.Format == historyFormat {
			all[id] = read.Entry
		}
	}
	return all
}

// fillLists puts an empty list or map, as we write it, in place of each that is missing, and
// reports whether no list has a missing element: a page reads all of them.
func fillLists(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.Pointer:
		return v.IsNil() || fillLists(v.Elem())
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() && !fillLists(v.Field(i)) {
				return false
			}
		}
	case reflect.Map:
		if v.IsNil() {
			v.Set(reflect.MakeMap(v.Type()))
		}
	case reflect.Slice:
		if v.IsNil() {
			v.Set(reflect.MakeSlice(v.Type(), 0, 0))
		}
		for i := range v.Len() {
			element := v.Index(i)
			if element.Kind() == reflect.Pointer && element.IsNil() || !fillLists(element) {
				return false
			}
		}
	}
	return true
}
