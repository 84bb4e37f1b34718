package backend

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/go-zookeeper/zk"
)

// zkAsk is zkDo for the commands that a lock takes and gives back with. They
// are sent on the library's connection, but from the caller's own goroutine,
// which can leave by itself. The library's way is two switches between threads
// for a command, and a goroutine more for the context that it does not know:
// with that zk was slower than the library's own Lock.
//
// While there is no connection the library's way is taken: it waits for one.
func zkAsk[T any](
	ctx context.Context, c *ZooKeeperClient, name, text string,
	request zkRequest, read func(*juteReader) T, library func() (T, error),
) (value T, err error) {
	err = zkTap(ctx, name, text, func() (err error) {
		q, err := c.ask(request)
		if err != nil {
			return err
		}
		if q == nil {
			value, err = zkSend(ctx, c, library)
			return err
		}
		if err := c.answered(ctx, q.done); err != nil {
			return err
		}
		r, err := q.reader()
		if err != nil {
			return err
		}
		value = read(r)
		return r.err
	})
	return value, err
}

// ask is the connection's ask; nil where there is none.
func (c *ZooKeeperClient) ask(request zkRequest) (*zkQuestion, error) {
	c.mu.Lock()
	link, connected := c.link, c.connected
	c.mu.Unlock()
	if !connected || link == nil {
		return nil, nil
	}
	return link.ask(request)
}

// A zkQuestion is a request that was sent.
type zkQuestion struct {
	done   chan struct{} // closed when answered, or when the connection is lost
	answer []byte        // nil then
}

func (q *zkQuestion) reader() (*juteReader, error) {
	if q.answer == nil {
		return nil, zk.ErrConnectionClosed
	}
	code := int32(binary.BigEndian.Uint32(q.answer[answerError:]))
	if code == 0 {
		return &juteReader{rest: q.answer[answerHead:]}, nil
	}
	if err := zkRefusals[code]; err != nil {
		return nil, err
	}
	return nil, fmt.Errorf("ZooKeeper refused it with error %d", code)
}

// zkRefusals are the library's errors by ZooKeeper's numbers.
var zkRefusals = map[int32]error{
	-8:   zk.ErrInvalidPath, // bad arguments: the path is all we have
	-100: zk.ErrAPIError,
	-101: zk.ErrNoNode,
	-102: zk.ErrNoAuth,
	-103: zk.ErrBadVersion,
	-108: zk.ErrNoChildrenForEphemerals,
	-110: zk.ErrNodeExists,
	-111: zk.ErrNotEmpty,
	-112: zk.ErrSessionExpired,
	-114: zk.ErrInvalidACL,
	-115: zk.ErrAuthFailed,
	-116: zk.ErrClosing,
	-118: zk.ErrSessionMoved,
}

// A zkRequest is a packet as it is sent, but for its length and number.
type zkRequest []byte

const (
	opCreate      = 1
	opDelete      = 2
	opGetChildren = 12
)

func newZKRequest(op uint32) zkRequest {
	return binary.BigEndian.AppendUint32(make([]byte, requestOp, 160), op)
}

func (r zkRequest) number(n int32) zkRequest {
	return binary.BigEndian.AppendUint32(r, uint32(n))
}

func (r zkRequest) data(b []byte) zkRequest {
	if b == nil {
		return r.number(-1)
	}
	return append(r.number(int32(len(b))), b...)
}

func (r zkRequest) text(s string) zkRequest { return append(r.number(int32(len(s))), s...) }

func (r zkRequest) numbered(n int32) []byte {
	binary.BigEndian.PutUint32(r, uint32(len(r)-4))
	binary.BigEndian.PutUint32(r[4:], uint32(n))
	return r
}

func createRequest(path string, data []byte, flags int32) zkRequest {
	return newZKRequest(opCreate).text(path).data(data).
		number(1).number(zk.PermAll).text("world").text("anyone").number(flags)
}

func childrenRequest(path string) zkRequest {
	return append(newZKRequest(opGetChildren).text(path), 0) // no watch
}

func deleteRequest(path string) zkRequest {
	return newZKRequest(opDelete).text(path).number(-1) // whatever its version
}

var errZooKeeperAnswer = errors.New("ZooKeeper's answer cannot be read")

// A juteReader reads an answer. What it reads past its end is zero, and err
// says so.
type juteReader struct {
	rest []byte
	err  error
}

func (r *juteReader) take(n int) []byte {
	if n < 0 || n > len(r.rest) {
		r.err, r.rest = errZooKeeperAnswer, nil
		return make([]byte, min(max(n, 0), 8))
	}
	taken := r.rest[:n]
	r.rest = r.rest[n:]
	return taken
}

func (r *juteReader) number() int32 { return int32(binary.BigEndian.Uint32(r.take(4))) }
func (r *juteReader) long() int64   { return int64(binary.BigEndian.Uint64(r.take(8))) }

func (r *juteReader) text() string {
	if n := r.number(); n > 0 {
		return string(r.take(int(n)))
	}
	return ""
}

func (r *juteReader) nothing() struct{} { return struct{}{} }

type zkListing struct {
	names []string
	stat  *zk.Stat
}

func (r *juteReader) listing() (l zkListing) {
	for n := r.number(); n > 0 && r.err == nil; n-- {
		l.names = append(l.names, r.text())
	}
	l.stat = &zk.Stat{Czxid: r.long(), Mzxid: r.long(), Ctime: r.long(), Mtime: r.long(),
		Version: r.number(), Cversion: r.number(), Aversion: r.number(), EphemeralOwner: r.long(),
		DataLength: r.number(), NumChildren: r.number(), Pzxid: r.long()}
	return l
}
