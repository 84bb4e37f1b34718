package tap

import (
	"context"
	"fmt"
	"net"
	"strings"

	"github.com/redis/go-redis/v9"
)

// RedisHook lets every Redis command pass the Tap of its context. What
// go-redis sends by itself when it opens a connection (HELLO, CLIENT, AUTH,
// SELECT) belongs to no purchase and is left out. Use it with
// redis.Options.MaxRetries -1: a retry below the hook is invisible here, and
// deducts twice when only the reply was lost.
type RedisHook struct{}

func (RedisHook) DialHook(next redis.DialHook) redis.DialHook {
	return func(ctx context.Context, network, addr string) (net.Conn, error) {
		return next(ctx, network, addr)
	}
}

func (RedisHook) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		if From(ctx) == nil || handshake(cmd) {
			return next(ctx, cmd)
		}
		err := Do(ctx, func() *Command {
			return &Command{Backend: Redis, Name: strings.ToUpper(cmd.Name()), Text: text(cmd)}
		}, func() error { return next(ctx, cmd) })
		return settle(err, cmd)
	}
}

// A pipeline is one round trip and one command here: nothing can come between
// its parts from this client.
func (RedisHook) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		if From(ctx) == nil || len(cmds) == 0 || handshake(cmds[0]) {
			return next(ctx, cmds)
		}
		err := Do(ctx, func() *Command {
			parts := make([]string, len(cmds))
			for i, cmd := range cmds {
				parts[i] = text(cmd)
			}
			return &Command{Backend: Redis, Name: strings.ToUpper(cmds[0].Name()), Text: strings.Join(parts, "; ")}
		}, func() error { return next(ctx, cmds) })
		return settle(err, cmds...)
	}
}

// settle makes what the Tap decided what the caller reads from the commands.
func settle(err error, cmds ...redis.Cmder) error {
	for _, cmd := range cmds {
		if err != nil && cmd.Err() == nil {
			cmd.SetErr(err)
		}
	}
	return err
}

func handshake(cmd redis.Cmder) bool {
	switch cmd.Name() {
	case "hello", "client", "auth", "select", "readonly":
		return true
	}
	return false
}

func text(cmd redis.Cmder) string {
	var b strings.Builder
	for i, arg := range cmd.Args() {
		if i > 0 {
			b.WriteByte(' ')
		}
		fmt.Fprint(&b, arg)
	}
	return b.String()
}

// Receive waits for the next message of a subscription. Subscribing itself
// does not pass go-redis's hooks, so use Subscribe below.
func Receive(ctx context.Context, sub *redis.PubSub) (*redis.Message, error) {
	return Wait(ctx, "message", sub.Channel())
}

// Subscribe subscribes and waits for the server's confirmation, so that
// nothing published afterwards is missed.
func Subscribe(ctx context.Context, c redis.UniversalClient, channel string) (*redis.PubSub, error) {
	var sub *redis.PubSub
	err := Do(ctx, func() *Command {
		return &Command{Backend: Redis, Name: "SUBSCRIBE", Text: "SUBSCRIBE " + channel}
	}, func() error {
		sub = c.Subscribe(ctx, channel)
		_, err := sub.Receive(ctx)
		return err
	})
	if err != nil && sub != nil {
		sub.Close()
		sub = nil
	}
	return sub, err
}
