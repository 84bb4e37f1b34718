// Package join lets several load workers, on one machine or many, act as one run: one
// process prepares the sale, has them all begin together, collects what their buyers
// were told, and judges it. The others send.
//
// Both sides prove by HMAC that they know one secret, before anything else is read;
// the secret itself is not sent. What follows is neither encrypted nor signed: it
// belongs into a network that can be trusted.
package join

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"time"

	"seckill/loadtest"
)

// version is of the protocol: workers of another one are refused.
const version = "seckill-load-1"

// A message is one JSON object with its length before it, in four bytes.
type message struct {
	Kind     string             `json:"kind"`
	Version  string             `json:"version,omitempty"`
	Nonce    string             `json:"nonce,omitempty"`
	Proof    string             `json:"proof,omitempty"`
	Name     string             `json:"name,omitempty"` // of the worker's machine
	Number   int                `json:"number,omitempty"`
	Of       int                `json:"of,omitempty"`
	Order    *loadtest.Order    `json:"order,omitempty"`
	Progress *loadtest.Progress `json:"progress,omitempty"`
	Calls    []byte             `json:"calls,omitempty"`
	Haul     *loadtest.Haul     `json:"haul,omitempty"`
	Error    string             `json:"error,omitempty"`
}

// Kinds of messages, in the order in which they come.
const (
	kindHello    = "hello"    // to the worker: a nonce
	kindWorker   = "worker"   // its own nonce, and its proof
	kindWelcome  = "welcome"  // to the worker: the other proof, its number
	kindOrder    = "order"    // to the worker
	kindReady    = "ready"    // its connections are open
	kindGo       = "go"       // to the worker: begin
	kindBegun    = "begun"    // its clock has started
	kindProgress = "progress" // now and then; it also says that it lives
	kindCalls    = "calls"    // some of what its buyers were told
	kindHaul     = "haul"     // the last message
	kindStop     = "stop"     // to the worker: send no more
	kindFailed   = "failed"
)

const (
	longestStranger = 4 << 10 // of a message before both sides have proved who they are
	longestMessage  = 8 << 20
	// handshake bounds what strangers can hold; silence is how long a worker that
	// lives may say nothing.
	handshake = 10 * time.Second
	silence   = 15 * time.Second
	beat      = time.Second
)

// A link sends and receives messages.
type link struct {
	net.Conn
	longest uint32
}

func (l *link) send(m message, within time.Duration) error {
	body, err := json.Marshal(m)
	if err != nil {
		return err
	}
	if len(body) > longestMessage {
		return fmt.Errorf("a message of %d bytes is too long", len(body))
	}
	_ = l.SetWriteDeadline(time.Now().Add(within))
	_, err = l.Write(append(binary.BigEndian.AppendUint32(nil, uint32(len(body))), body...))
	return err
}

func (l *link) receive(within time.Duration) (m message, err error) {
	_ = l.SetReadDeadline(time.Now().Add(within))
	var head [4]byte
	if _, err = io.ReadFull(l, head[:]); err != nil {
		return m, err
	}
	n := binary.BigEndian.Uint32(head[:])
	if n > l.longest {
		return m, fmt.Errorf("a message of %d bytes is too long", n)
	}
	body := make([]byte, n)
	if _, err = io.ReadFull(l, body); err != nil {
		return m, err
	}
	if err = json.Unmarshal(body, &m); err != nil {
		return m, fmt.Errorf("what came is no message: %w", err)
	}
	if m.Kind == kindFailed {
		return m, errors.New(m.Error)
	}
	return m, nil
}

// expect receives a message of one kind.
func (l *link) expect(kind string, within time.Duration) (message, error) {
	m, err := l.receive(within)
	if err == nil && m.Kind != kind {
		err = fmt.Errorf("a message %q came, and %q was due", m.Kind, kind)
	}
	return m, err
}

// Sides of the proof: what one side sends is no answer for the other.
const (
	sideWorker = "worker"
	sideRun    = "run"
)

func proof(secret []byte, side, runNonce, workerNonce string) string {
	h := hmac.New(sha256.New, secret)
	fmt.Fprintf(h, "%s\n%s\n%s\n%s", version, side, runNonce, workerNonce)
	return hex.EncodeToString(h.Sum(nil))
}

func proves(given string, secret []byte, side, runNonce, workerNonce string) bool {
	return hmac.Equal([]byte(given), []byte(proof(secret, side, runNonce, workerNonce)))
}

// ErrSecret: the other side does not know the secret.
var ErrSecret = errors.New("the other side has another secret: give both the same --join-secret")

func nonce() string { return rand.Text() }
