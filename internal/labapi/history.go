package labapi

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
)

// A History is the path of a folder that keeps the results of a lab after the lab has ended. Each entry is a JSON file
// that people can copy, send and delete. The first entry creates the folder. If the path is "", no results are kept.
// Several labs may use one folder at the same time.
type History string

// historyFormat is the number of the file format that this program writes and reads.
const historyFormat = 1

type historyFile[T any] struct {
	Format int `json:"seckill_history"`
	Entry  T   `json:"entry"`
}

func (h History) fileName(kind, id string) string {
	return filepath.Join(string(h), kind+"-"+id+".json")
}

func (h History) writeEntry(kind, id string, entry any) error {
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
	return os.WriteFile(h.fileName(kind, id), text, 0o600)
}

// removeEntry removes the file of an entry. It ignores errors, for example if a person has removed the file.
func (h History) removeEntry(kind, id string) {
	if h != "" {
		_ = os.Remove(h.fileName(kind, id))
	}
}

// readEntries returns the entries of a kind by their ids. It ignores files of other programs or versions. It also
// ignores incomplete files, which remain if a lab was killed or the disk was full.
func readEntries[T any](h History, kind string) map[string]T {
	all := map[string]T{}
	if h == "" {
		return all
	}
	files, _ := os.ReadDir(string(h)) // if the folder does not exist yet, there are no entries
	for _, file := range files {
		id, found := strings.CutPrefix(strings.TrimSuffix(file.Name(), ".json"), kind+"-")
		if !found || !file.Type().IsRegular() { // skip a named pipe, because reading it would block
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

// fillLists replaces each nil slice and map in v by an empty one, because pages cannot read null instead of a list. It
// returns false if a slice contains a nil pointer, because pages cannot read that either.
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
