package lab

import (
	"fmt"

	"seckill/internal/backend"
)

// megabytes are what a server's files take when it has just started, with
// something to grow. The others hardly write.
var megabytes = map[string]uint64{backend.NameMySQL: 256, backend.NameEtcd: 160}

// checkRoom fails when the disk is too full for what is to be started: the
// servers themselves would crash in ways that do not tell.
func (l *Lab) checkRoom(names []string) error {
	var needed uint64
	for _, name := range names {
		if program, _ := l.programs.For(name); l.isPrivate(name, program) {
			needed += megabytes[name]
		}
	}
	return l.hasRoom(needed)
}

func (l *Lab) hasRoom(needed uint64) error {
	free, err := freeBytes(l.folder)
	if err != nil || free>>20 >= needed { // where it cannot be asked, the servers will find out
		return nil
	}
	return fmt.Errorf("the lab needs %d MB in %s, where %d are free: make room, or name another place with --folder or TMPDIR",
		needed, l.options.Folder, free>>20)
}

// isPrivate: the backend is to be started as a server of this machine.
func (l *Lab) isPrivate(name string, program Program) bool {
	return givenAddress(l.options.Given, name) == "" && program.Found() && !l.options.Embedded
}
