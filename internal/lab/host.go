package lab

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// A Host is what a lab needs of its program's environment, which it does not
// read itself.
type Host struct {
	// Environ is passed on to service processes. Servers get a few of it; PATH,
	// JAVA_HOME and ZOOKEEPER_HOME say where they are looked for.
	Environ []string
	Temp    string // the folder for temporary files
	Cache   string // the user's folder for caches; "": there is none
}

// Getenv returns a variable of Environ; "" if it is not set.
func (h Host) Getenv(name string) (value string) {
	for _, entry := range h.Environ {
		if v, ok := strings.CutPrefix(entry, name+"="); ok {
			value = v // the last one counts
		}
	}
	return value
}

// runFolders are where a lab may be announced, best first. SECKILL_STATE names
// another folder, for tests. The last one is for users without a home.
func (h Host) runFolders() []string {
	if folder := h.Getenv("SECKILL_STATE"); folder != "" {
		return []string{folder}
	}
	var folders []string
	if folder := h.Getenv("XDG_RUNTIME_DIR"); folder != "" {
		folders = append(folders, filepath.Join(folder, "seckill"))
	}
	if h.Cache != "" {
		folders = append(folders, filepath.Join(h.Cache, "seckill", "running"))
	}
	return append(folders, filepath.Join(h.Temp, fmt.Sprintf("seckill-%d", os.Getuid())))
}

// keepLog saves a log where it outlives the lab's folder. There is one file for
// each name, so that failures do not pile up.
func (h Host) keepLog(name string, text []byte) (file string, ok bool) {
	if h.Cache == "" {
		return "", false
	}
	folder := filepath.Join(h.Cache, "seckill", "failed")
	file = filepath.Join(folder, name+".log")
	if os.MkdirAll(folder, 0o700) != nil || os.WriteFile(file, append(text, '\n'), 0o600) != nil {
		return "", false
	}
	return file, true
}
