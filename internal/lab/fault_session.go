package lab

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"

	"seckill/internal/backend"
)

// cutZooKeeperSession ends the very session of one service, as the server does
// when it has not heard of it for long enough. It returns when the service has
// been told that its session expired, and has another.
func cutZooKeeperSession(ctx context.Context, l *Lab, victim *Process) (undo func(context.Context) error, err error) {
	if victim.Paused() {
		return nil, fmt.Errorf("%s is paused: it would not learn of it", victim.Name)
	}
	server, err := l.Process(backend.NameZooKeeper)
	if err != nil {
		return nil, err
	}
	before, err := zookeeperSession(ctx, victim.Addr)
	if err != nil {
		return nil, err
	}
	if err := closeZooKeeperSession(ctx, server.Addr, before); err != nil {
		return nil, fmt.Errorf("end ZooKeeper's session %#x: %w", before, err)
	}
	return nil, await(ctx, patience/2, func(ctx context.Context) error {
		now, err := zookeeperSession(ctx, victim.Addr)
		if err == nil && now == before {
			err = fmt.Errorf("%s goes on with its session %#x", victim.Name, before)
		}
		return err
	})
}

// zookeeperSession is what a service says that its session is.
func zookeeperSession(ctx context.Context, service string) (uint64, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+service+"/readyz", nil)
	if err != nil {
		return 0, err
	}
	answer, err := client.Do(request)
	if err != nil {
		return 0, err
	}
	defer answer.Body.Close()
	var ready struct {
		Backends []backend.Status `json:"backends"`
	}
	if err := json.NewDecoder(answer.Body).Decode(&ready); err != nil {
		return 0, fmt.Errorf("ask the service at %s for its session: %w", service, err)
	}
	for _, b := range ready.Backends {
		if b.Name == backend.NameZooKeeper && b.Session != "" {
			return strconv.ParseUint(b.Session, 0, 64)
		}
	}
	return 0, fmt.Errorf("the service at %s has no session with ZooKeeper", service)
}

// closeZooKeeperSession takes a session over, as a client does that comes back
// after its connection broke, and closes it. Both are sent at once: the server
// cuts the client's own connection, and the client comes back just as soon; the
// later of the two has the session.
func closeZooKeeperSession(ctx context.Context, addr string, id uint64) error {
	return await(ctx, checkLimit*5, func(ctx context.Context) error {
		_, err := talk(ctx, addr, string(sessionCloser(id)), func(r *bufio.Reader) (string, error) {
			granted, err := readFrame(r) // version, time-out, session, password
			if err != nil {
				return "", err
			}
			if len(granted) < 16 || binary.BigEndian.Uint32(granted[4:]) == 0 {
				return "", nil // it has expired: somebody was faster
			}
			closed, err := readFrame(r) // number of the request, of the transaction, error
			if err == nil && (len(closed) < 16 || binary.BigEndian.Uint32(closed[12:]) != 0) {
				err = errors.New("the server did not close it")
			}
			return "", err
		})
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
