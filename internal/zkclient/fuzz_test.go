package zkclient

import (
	"io"
	"net"
	"testing"
	"time"
)

// A ZooKeeper server's first answer may arrive in any number of pieces. The client reads the
// granted session from the first bytes of the answer.
func FuzzZooKeeperReply(f *testing.F) {
	f.Add([]byte("\x00\x00\x00\x25\x00\x00\x00\x00\x00\x00\x0f\xa0\x01\x02\x03\x04\x05\x06\x07\x08\x00\x00\x00\x10"), 3)
	f.Add([]byte("\x00\x00\x00\x25\xff\xff\xff\xff\xff\xff\xff\xff"), 12)
	f.Add([]byte("This ZooKeeper instance is not currently serving requests"), 0)
	granted := func(parts ...[]byte) (int64, time.Duration) {
		ours, theirs := net.Pipe()
		go func() {
			for _, part := range parts {
				_, _ = theirs.Write(part)
			}
			theirs.Close()
		}()
		c := &wireConn{Conn: ours, clock: &wireClock{start: time.Now()}}
		_, _ = io.Copy(io.Discard, c)
		return c.grantedSession()
	}
	f.Fuzz(func(t *testing.T, answer []byte, cut int) {
		cut = max(0, min(cut, len(answer)))
		id, timeout := granted(answer)
		if again, same := granted(answer[:cut], answer[cut:]); id != again || timeout != same || timeout < 0 || len(answer) < headLen && id != 0 {
			t.Errorf("%q grants %d for %v, cut at %d %d for %v", answer, id, timeout, cut, again, same)
		}
	})
}
