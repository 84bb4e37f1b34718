package fault

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"time"

	"seckill/internal/backend"
	"seckill/internal/lab"
)

// cutSession ends the session of a service process. Its ephemeral nodes, and so
// its locks, are gone.
func cutSession(ctx context.Context, s *scene) (*Injection, error) {
	if s.process.Paused() {
		return nil, fmt.Errorf("%s is paused: it would not learn of it", s.process.Name)
	}
	said, err := points(s.process).State(ctx, "", 0)
	if err == nil {
		err = s.endSession(ctx, said.Session)
	}
	if err != nil {
		return nil, err
	}
	return s.injected(true, nil)
}

// endSession ends the very session of the process, as the server does when it
// has not heard of it for long enough. It returns when the process has been
// told that its session expired, and has another.
func (s *scene) endSession(ctx context.Context, session string) error {
	if why := notOurs(s.lab, backend.NameZooKeeper); why != nil {
		return errors.New(why.String())
	}
	server, err := s.lab.Process(backend.NameZooKeeper)
	if err != nil {
		return err
	}
	before, err := strconv.ParseUint(session, 0, 64)
	if err != nil {
		return fmt.Errorf("%s has no session with ZooKeeper", s.process.Name)
	}
	if err := closeZooKeeperSession(ctx, server.Addr, before); err != nil {
		return fmt.Errorf("end ZooKeeper's session %#x: %w", before, err)
	}
	return lab.Await(ctx, 15*time.Second, func(ctx context.Context) error {
		said, err := points(s.process).State(ctx, "", 0)
		switch {
		case err != nil:
		case said.Session == session:
			err = fmt.Errorf("%s goes on with its session %s", s.process.Name, session)
		case said.Session == "":
			err = fmt.Errorf("%s has no session with ZooKeeper", s.process.Name)
		}
		return err
	})
}

// closeZooKeeperSession takes a session over, as a client does that comes back
// after its connection broke, and closes it. Both are sent at once: the server
// cuts the client's own connection, and the client comes back just as soon; the
// later of the two has the session.
func closeZooKeeperSession(ctx context.Context, addr string, id uint64) error {
	return lab.Await(ctx, 5*time.Second, func(ctx context.Context) error {
		conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", addr)
		if err != nil {
			return err
		}
		defer conn.Close()
		defer context.AfterFunc(ctx, func() { conn.SetDeadline(time.Unix(1, 0)) })()
		if _, err := conn.Write(sessionCloser(id)); err != nil {
			return err
		}
		r := bufio.NewReader(conn)
		granted, err := readFrame(r) // version, time-out, session, password
		if err != nil {
			return err
		}
		if len(granted) < 16 || binary.BigEndian.Uint32(granted[4:]) == 0 {
			return nil // it has expired: another was faster
		}
		closed, err := readFrame(r) // number of the request, of the transaction, error
		if err == nil && (len(closed) < 16 || binary.BigEndian.Uint32(closed[12:]) != 0) {
			err = errors.New("the server did not close it")
		}
		return err
	})
}

// sessionCloser is what a client writes to take up a session and close it: a
// ConnectRequest and a request of the type closeSession, of ZooKeeper's
// protocol (zookeeper.jute), each after its length.
func sessionCloser(id uint64) []byte {
	const closeSession = -11
	password := zookeeperPassword(id)
	var out bytes.Buffer
	write := func(fields ...any) {
		var frame bytes.Buffer
		for _, f := range fields {
			binary.Write(&frame, binary.BigEndian, f)
		}
		binary.Write(&out, binary.BigEndian, int32(frame.Len()))
		out.Write(frame.Bytes())
	}
	version, seen, timeout := int32(0), int64(0), int32((6 * time.Second).Milliseconds())
	write(version, seen, timeout, id, int32(len(password)), password[:])
	write(int32(1), int32(closeSession))
	return out.Bytes()
}

// zookeeperPassword is the password of a session, which the server computes
// and does not keep: the first bytes of java.util.Random, seeded with the
// session's number and a constant (ZooKeeperServer.generatePasswd).
func zookeeperPassword(id uint64) (password [16]byte) {
	const superSecret, multiplier, mask = 0xB3415C00, 0x5DEECE66D, 1<<48 - 1
	seed := (id ^ superSecret ^ multiplier) & mask
	for i := 0; i < len(password); i += 4 {
		seed = (seed*multiplier + 0xB) & mask
		binary.LittleEndian.PutUint32(password[i:], uint32(seed>>16))
	}
	return password
}

func readFrame(r io.Reader) ([]byte, error) {
	var length uint32
	if err := binary.Read(r, binary.BigEndian, &length); err != nil {
		return nil, err
	}
	if length > 1<<10 {
		return nil, errors.New("what answers there is not ZooKeeper")
	}
	frame := make([]byte, length)
	_, err := io.ReadFull(r, frame)
	return frame, err
}
