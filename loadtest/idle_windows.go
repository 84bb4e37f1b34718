package loadtest

import "net"

// hasEnded cannot look without taking here: a connection that a service has
// closed meanwhile is found out by the next purchase, which is unknown then.
func hasEnded(net.Conn) bool { return false }
