package backend

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/nats-io/nats.go"

	"seckill/internal/tap"
)

var (
	// ErrNoStream: no stream takes this subject, or has this name.
	ErrNoStream = errors.New("there is no such stream")
	// ErrStreamFull: the subject has as many messages as its stream keeps, and
	// the message was not stored.
	ErrStreamFull = errors.New("the subject has as many messages as its stream keeps")
)

// A JetStreamError is a refusal in the server's own words: nothing was changed.
type JetStreamError struct {
	Code        int    `json:"err_code"`
	Description string `json:"description"`
}

func (e *JetStreamError) Error() string { return fmt.Sprintf("%s (%d)", e.Description, e.Code) }

// The server's codes that callers tell apart.
const (
	jsStreamExists  = 10058 // with other settings
	jsNoStream      = 10059
	jsNoMessage     = 10037
	jsNoMessageGone = 10057
	jsStoreFailed   = 10077 // or a limit, as its text says
)

func (e *JetStreamError) meaning() error {
	switch {
	case e == nil:
		return nil
	case e.Code == jsNoStream:
		return ErrNoStream
	case e.Code == jsStoreFailed && e.Description == "maximum messages per subject exceeded":
		return ErrStreamFull
	}
	return e
}

// A Stream is what we set of one. It keeps PerSubject messages in each subject,
// refuses further ones, and knows an id again for Window after its message.
type Stream struct {
	Name       string
	Subject    string
	PerSubject int64
	Window     time.Duration // 100 ms or longer; 0: the server's two minutes
}

func (s Stream) config() map[string]any {
	return map[string]any{"name": s.Name, "subjects": []string{s.Subject}, "retention": "limits", "storage": "file",
		"num_replicas": 1, "max_consumers": -1, "max_msgs": -1, "max_bytes": -1, "max_msgs_per_subject": s.PerSubject,
		"discard": "new", "discard_new_per_subject": true, "allow_direct": true, "duplicate_window": s.Window}
}

// An Ack is what the server says of a message that it has stored.
type Ack struct {
	Seq       uint64 `json:"seq"`
	Duplicate bool   `json:"duplicate"` // it had this id already: Seq is the first one's
}

// A StreamMessage is one that a stream keeps.
type StreamMessage struct {
	Seq  uint64
	ID   string
	Data []byte
}

// Publish stores a message under an id. ErrNoStream and ErrStreamFull mean that it
// was not stored; an error that is neither nor a JetStreamError says nothing.
func (c *JetStreamClient) Publish(ctx context.Context, subject, id string, data []byte) (Ack, error) {
	return jsDo(ctx, "publish", subject+" "+id, func(ctx context.Context) (a Ack, err error) {
		header := nats.Header{"Nats-Msg-Id": {id}}
		err = c.call(ctx, subject, header, data, &a)
		return a, err
	})
}

// Delete removes a message. One that is not there is no error.
func (c *JetStreamClient) Delete(ctx context.Context, stream string, seq uint64) error {
	_, err := jsDo(ctx, "delete", fmt.Sprint(stream, " ", seq), func(ctx context.Context) (struct{}, error) {
		err := c.api(ctx, "STREAM.MSG.DELETE."+stream, map[string]any{"seq": seq, "no_erase": true}, nil)
		if refused, ok := errors.AsType[*JetStreamError](err); ok &&
			(refused.Code == jsNoMessage || refused.Code == jsNoMessageGone) {
			err = nil
		}
		return struct{}{}, err
	})
	return err
}

// Messages are those of a stream from a sequence number on, so many at most.
func (c *JetStreamClient) Messages(ctx context.Context, stream string, from uint64, most int) ([]StreamMessage, error) {
	return jsDo(ctx, "get", fmt.Sprint(stream, " from ", from), func(ctx context.Context) (list []StreamMessage, err error) {
		question, err := json.Marshal(map[string]any{"seq": max(from, 1), "batch": most})
		if err != nil {
			return nil, err
		}
		all, err := c.requestAll(ctx, "$JS.API.DIRECT.GET."+stream, question)
		for _, m := range all {
			seq, err := strconv.ParseUint(m.Header.Get("Nats-Sequence"), 10, 64)
			if err != nil {
				return nil, fmt.Errorf("NATS sends a message without its number: %w", err)
			}
			list = append(list, StreamMessage{Seq: seq, ID: m.Header.Get("Nats-Msg-Id"), Data: m.Data})
		}
		return list, err
	})
}

// CreateStream makes a stream. One of this name that is there stays as it is.
func (c *JetStreamClient) CreateStream(ctx context.Context, s Stream) error {
	_, err := jsDo(ctx, "create", fmt.Sprint(s.Name, " of ", s.PerSubject), func(ctx context.Context) (struct{}, error) {
		err := c.api(ctx, "STREAM.CREATE."+s.Name, s.config(), nil)
		if refused, ok := errors.AsType[*JetStreamError](err); ok && refused.Code == jsStreamExists {
			err = nil
		}
		return struct{}{}, err
	})
	return err
}

// SetWindow changes for how long a stream knows an id again; 100 ms or longer.
func (c *JetStreamClient) SetWindow(ctx context.Context, stream string, window time.Duration) error {
	_, err := jsDo(ctx, "update", fmt.Sprint(stream, " window ", window), func(ctx context.Context) (struct{}, error) {
		var now struct{ Config map[string]any }
		err := c.api(ctx, "STREAM.INFO."+stream, nil, &now)
		if err == nil {
			now.Config["duplicate_window"] = window
			err = c.api(ctx, "STREAM.UPDATE."+stream, now.Config, nil)
		}
		return struct{}{}, err
	})
	return err
}

// Remembers reports whether a stream would take a message with this id for one
// that it has. It stores nothing.
func (c *JetStreamClient) Remembers(ctx context.Context, subject, id string) (bool, error) {
	return jsDo(ctx, "remembers", subject+" "+id, func(ctx context.Context) (bool, error) {
		// The server looks at the id first, and refuses what is left.
		header := nats.Header{"Nats-Msg-Id": {id}, "Nats-Expected-Last-Msg-Id": {"none has this id"}}
		var a Ack
		err := c.call(ctx, subject, header, nil, &a)
		if _, ok := errors.AsType[*JetStreamError](err); ok {
			return false, nil
		}
		return a.Duplicate, err
	})
}

// DeleteStream removes a stream with its messages. One that is not there is no
// error.
func (c *JetStreamClient) DeleteStream(ctx context.Context, name string) error {
	_, err := jsDo(ctx, "remove", name, func(ctx context.Context) (struct{}, error) {
		err := c.api(ctx, "STREAM.DELETE."+name, nil, nil)
		if errors.Is(err, ErrNoStream) {
			err = nil
		}
		return struct{}{}, err
	})
	return err
}

// Streams are the names of the streams that take a subject, which may have
// wildcards.
func (c *JetStreamClient) Streams(ctx context.Context, subject string) ([]string, error) {
	return jsDo(ctx, "names", subject, func(ctx context.Context) ([]string, error) {
		var found struct{ Streams []string }
		err := c.api(ctx, "STREAM.NAMES", map[string]any{"subject": subject}, &found)
		return found.Streams, err
	})
}

// api asks JetStream's management, whose questions and answers are JSON.
func (c *JetStreamClient) api(ctx context.Context, name string, question, answer any) error {
	var data []byte
	if question != nil {
		var err error
		if data, err = json.Marshal(question); err != nil {
			return err
		}
	}
	return c.call(ctx, "$JS.API."+name, nil, data, answer)
}

func (c *JetStreamClient) call(ctx context.Context, subject string, header nats.Header, data []byte, answer any) error {
	m, err := c.request(ctx, subject, header, data)
	if errors.Is(err, nats.ErrNoResponders) {
		return ErrNoStream
	}
	if err != nil {
		return err
	}
	var said struct{ Error *JetStreamError }
	if err := json.Unmarshal(m.Data, &said); err != nil {
		return fmt.Errorf("NATS answers %q: %w", m.Data, err)
	}
	if said.Error != nil || answer == nil {
		return said.Error.meaning()
	}
	return json.Unmarshal(m.Data, answer)
}

// jsDo sends a command through the tap.
func jsDo[T any](
	ctx context.Context, name, text string, send func(context.Context) (T, error),
) (value T, err error) {
	var got T
	err = tap.Ask(ctx, tap.JetStream, func() *tap.Command {
		return &tap.Command{Name: name, Text: name + " " + text}
	}, func(ctx context.Context) error {
		answer, err := send(ctx)
		if !tap.IsLate(ctx) {
			got = answer
		}
		return err
	}, func(err error) string {
		if err != nil {
			return err.Error()
		}
		return jsReply(got)
	})
	if err != nil {
		return value, err
	}
	return got, nil
}

func jsReply(answer any) string {
	switch a := answer.(type) {
	case Ack:
		if a.Duplicate {
			return fmt.Sprint("a duplicate of ", a.Seq)
		}
		return fmt.Sprint("stored as ", a.Seq)
	case []StreamMessage:
		return fmt.Sprint("messages: ", len(a))
	}
	return ""
}
