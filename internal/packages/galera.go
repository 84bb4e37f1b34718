package packages

import (
	"os"
	"path/filepath"
)

// galeraLibrary is what MariaDB loads to be a node of a cluster.
const galeraLibrary = "libgalera_smm.so"

// findGalera looks where systems put the library.
func (s Search) findGalera(p *Program) {
	for _, folder := range s.libraries {
		path := filepath.Join(folder, galeraLibrary)
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
			p.Path = path
			return
		}
	}
	p.lookedFor = "Galera library (" + galeraLibrary + ")"
	p.Lacks = []Tool{Galera}
}

var galeraFolders = []string{"/usr/lib/galera", "/usr/lib64/galera-4", "/usr/lib64/galera", "/usr/lib/galera-4", "/usr/lib"}
