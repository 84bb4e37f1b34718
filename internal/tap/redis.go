package tap

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
)

// RedisHook passes every Redis command through the Tap of its context. It leaves out the commands that go-redis sends
// by itself: HELLO, CLIENT, AUTH and SELECT on a new connection, CLUSTER and COMMAND for a Cluster. Each node of a
// Cluster needs a hook of its own. Set redis.Options.MaxRetries to -1, because the hook does not see a retry. A retry
// after a lost reply would deduct a second time.
type RedisHook struct {
	Node string // becomes Command.Node
}

func (RedisHook) DialHook(next redis.DialHook) redis.DialHook {
	return next
}

func (h RedisHook) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		return h.sendCommands(ctx, []redis.Cmder{cmd}, func(ctx context.Context, cmds []redis.Cmder) error {
			return next(ctx, cmds[0])
		})
	}
}

// ProcessPipelineHook treats a pipeline as one command, because the client sends its commands
// together, in one round trip.
func (h RedisHook) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error { return h.sendCommands(ctx, cmds, next) }
}

func (h RedisHook) sendCommands(ctx context.Context, cmds []redis.Cmder, send redis.ProcessPipelineHook) error {
	if len(cmds) == 0 || isHandshake(cmds[0]) {
		return send(ctx, cmds)
	}
	_, err := Do(ctx, Redis, func() *Command {
		named := cmds[0]
		if named.Name() == "asking" && len(cmds) > 1 {
			named = cmds[1]
		}
		c := &Command{Node: h.Node, Name: strings.ToUpper(named.Name())}
		parts := make([]string, len(cmds))
		for i, cmd := range cmds {
			list := fmt.Sprint(cmd.Args())
			parts[i] = list[1 : len(list)-1] // leave out the brackets that Sprint puts around a list
			if args := cmd.Args(); cmd.Name() == "set" && len(args) > 2 {
				c.Sets = append(c.Sets, Pair{fmt.Sprint(args[1]), fmt.Sprint(args[2])})
			}
		}
		c.Text = strings.Join(parts, "; ")
		return c
	}, func(ctx context.Context) ([]redis.Cmder, error) {
		sent := cmds
		if IsLate(ctx) {
			sent = copyCommands(ctx, cmds)
		}
		return sent, send(ctx, sent)
	}, func(sent *[]redis.Cmder, _ error) string { return repliesOf(*sent) })
	return setErrors(err, cmds)
}

// copyCommands copies commands. A late delivery sends the copies, because the caller may be reading the replies in the
// original commands.
func copyCommands(ctx context.Context, cmds []redis.Cmder) []redis.Cmder {
	list := make([]redis.Cmder, len(cmds))
	for i, cmd := range cmds {
		switch cmd.Name() {
		// A reply is parsed by the type of the command, so a copy needs the type of the original.
		case "multi", "asking":
			list[i] = redis.NewStatusCmd(ctx, cmd.Args()...)
		case "exec":
			list[i] = redis.NewSliceCmd(ctx, cmd.Args()...)
		default:
			list[i] = redis.NewCmd(ctx, cmd.Args()...)
		}
	}
	return list
}

// setErrors returns err. If none of cmds already has err (such as redis.Nil), err came from the Tap and not from Redis.
// Then setErrors stores err in each command without an error, because callers read errors from the commands.
func setErrors(err error, cmds []redis.Cmder) error {
	if err == nil || slices.ContainsFunc(cmds, func(cmd redis.Cmder) bool { return errors.Is(cmd.Err(), err) }) {
		return err
	}
	for _, cmd := range cmds {
		if cmd.Err() == nil {
			cmd.SetErr(err)
		}
	}
	return err
}

func isHandshake(cmd redis.Cmder) bool {
	return slices.Contains([]string{"hello", "client", "auth", "select", "readonly", "cluster", "command"}, cmd.Name())
}

// repliesOf joins the replies of commands. It leaves out MULTI, EXEC and ASKING, because the replies of the commands
// between MULTI and EXEC say everything.
func repliesOf(cmds []redis.Cmder) string {
	var parts []string
	for _, cmd := range cmds {
		if cmd.Name() != "multi" && cmd.Name() != "exec" && cmd.Name() != "asking" {
			parts = append(parts, replyOf(cmd))
		}
	}
	return strings.Join(parts, "; ")
}

// replyOf returns a reply on one line as redis-cli writes it; "" for an error.
func replyOf(cmd redis.Cmder) string {
	switch {
	case errors.Is(cmd.Err(), redis.Nil):
		return "(nil)"
	case cmd.Err() != nil:
		return ""
	}
	var v any
	switch cmd := cmd.(type) {
	case *redis.Cmd:
		v = cmd.Val()
	case *redis.StringCmd:
		v = cmd.Val()
	case *redis.StatusCmd:
		v = cmd.Val()
	case *redis.IntCmd:
		v = cmd.Val()
	case *redis.BoolCmd:
		v = map[bool]int{true: 1}[cmd.Val()]
	case *redis.SliceCmd:
		v = cmd.Val()
	case *redis.StringSliceCmd:
		v = cmd.Val()
	default:
		return ""
	}
	return strings.Trim(fmt.Sprint(v), "[]")
}

// A Subscription listens to one Redis channel. It drops messages when its buffer is full: messages
// only wake a waiter, and one message is enough.
type Subscription struct {
	// Messages is closed when the connection is lost.
	Messages <-chan *redis.Message

	channel string
	pubsub  *redis.PubSub
	done    chan struct{}
	pongs   sync.Map // maps the token of each PING to a chan struct{} that its PONG closes
}

const subscriptionBuffer = 16

// Subscribe waits until the server has confirmed the subscription, so that the caller misses
// nothing that is published afterwards. The caller must close the Subscription.
func Subscribe(ctx context.Context, c redis.UniversalClient, channel string) (*Subscription, error) {
	sub, err := Do(ctx, Redis, func() *Command {
		return &Command{Name: "SUBSCRIBE", Text: "SUBSCRIBE " + channel}
	}, func(ctx context.Context) (*redis.PubSub, error) {
		sub := c.Subscribe(context.WithoutCancel(ctx), channel)
		_, err := sub.Receive(ctx)
		return sub, err
	}, nil)
	if err != nil {
		if sub != nil {
			sub.Close()
		}
		return nil, err
	}
	messages := make(chan *redis.Message, subscriptionBuffer)
	s := &Subscription{Messages: messages, channel: channel, pubsub: sub, done: make(chan struct{})}
	go s.readMessages(messages)
	return s, nil
}

func (s *Subscription) readMessages(messages chan<- *redis.Message) {
	defer close(s.done)
	defer close(messages)
	for {
		news, err := s.pubsub.Receive(context.Background())
		switch m := news.(type) {
		case *redis.Message:
			select {
			case messages <- m:
			default:
			}
		case *redis.Pong:
			if pong, asked := s.pongs.LoadAndDelete(m.Payload); asked {
				close(pong.(chan struct{}))
			}
		}
		if err != nil {
			return
		}
	}
}

// Receive waits for the next message; a nil message means that the connection is lost. The error is
// ErrTimeUp if limit has passed, or the cause of ctx if ctx ends first.
func (s *Subscription) Receive(ctx context.Context, limit time.Duration) (*redis.Message, error) {
	return WaitWithin(ctx, "message on "+s.channel, limit, s.Messages, s.awaitPong)
}

// awaitPong sends a PING and waits for its PONG. Redis answers in order, so every message published
// before the PING has arrived by then.
func (s *Subscription) awaitPong(ctx context.Context) error {
	token, pong := rand.Text(), make(chan struct{})
	s.pongs.Store(token, pong)
	if err := s.pubsub.Ping(ctx, token); err != nil {
		return err
	}
	select {
	case <-pong:
		return nil
	case <-s.done:
		return nil // the connection is lost, so no message follows
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Close unsubscribes and closes the connection.
func (s *Subscription) Close() error {
	err := s.pubsub.Close()
	<-s.done
	return err
}
