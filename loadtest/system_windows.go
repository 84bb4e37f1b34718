package loadtest

import (
	"net"
	"time"
)

// hasEnded cannot peek at a socket here: a purchase on a connection that the
// service has closed is unknown.
func hasEnded(net.Conn) bool { return false }

func cpuTime() time.Duration { return 0 } // not known here
