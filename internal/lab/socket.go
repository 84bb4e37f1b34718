package lab

import (
	"math"
	"path/filepath"
	"strconv"
	"strings"
)

// longestSocket is what every system takes as the path of a Unix socket.
const longestSocket = 100

// adminAddr is where a service takes admin calls: a socket in the lab's folder,
// which only this user can reach. "": the folder's path is too long.
func (l *Lab) adminAddr(service string) string {
	if !fitsSocket(l.folder) {
		return ""
	}
	return "unix:" + filepath.Join(l.folder, service+".sock")
}

// HasSockets reports whether the lab's services have sockets, and so fault points.
func (l *Lab) HasSockets() bool { return fitsSocket(l.folder) }

// AdminAddr is where a service process takes admin calls; "": the lab's services
// have no sockets.
func (p *Process) AdminAddr() string { return p.lab.adminAddr(p.Name) }

// fitsSocket reports whether services can have sockets in a lab's folder.
func fitsSocket(folder string) bool {
	return len(filepath.Join(folder, serviceName(MostServices)+".sock")) <= longestSocket
}

// RoomForSockets reports whether services of a lab whose folder is made in base
// can have fault points.
func RoomForSockets(base string) bool {
	return fitsSocket(filepath.Join(base, strings.Replace(folderPattern, "*", strconv.Itoa(math.MaxUint32), 1)))
}
