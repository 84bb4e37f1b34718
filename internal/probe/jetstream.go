package probe

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"seckill/internal/backend"
)

// jetstream looks into the streams of a SKU.
type jetstream struct {
	nothing
	client *backend.JetStreamClient
}

// The shortest window that a NATS server takes; so many messages at most are looked
// at, and so often until the window is set once more.
const (
	shortestWindow = 100 * time.Millisecond
	fewMessages    = 256
	mostLooks      = 30
)

// Expire lets the time pass in which the server knows the ids of messages again. It
// waits until the server has forgotten them.
func (p jetstream) Expire(ctx context.Context, key string, _ *Holder) (did string, err error) {
	sku, ours := strings.CutPrefix(key, "seckill:lock:stock:")
	if !ours {
		return "", nil
	}
	names, err := p.client.Streams(ctx, "seckill.stock.*."+sku+".*")
	if err != nil {
		return "", err
	}
	for _, name := range names {
		forgot, err := p.forget(ctx, name)
		if err != nil {
			return did, err
		}
		if forgot > 0 {
			did = fmt.Sprintf("JetStream forgets the ids of %d messages", forgot)
		}
	}
	return did, nil
}

func (p jetstream) forgetAll(ctx context.Context, digits string) error {
	names, err := p.client.Streams(ctx, "seckill.stock.*.*.*")
	for _, name := range names {
		if parts := strings.Split(name, "-"); len(parts) == 4 && strings.HasPrefix(parts[2], digits) { // seckill-DATABASE-SKU-RUN
			err = errors.Join(err, p.client.DeleteStream(ctx, name))
		}
	}
	return err
}

// forget returns how many ids the stream knew.
func (p jetstream) forget(ctx context.Context, stream string) (known int, err error) {
	messages, err := p.client.Messages(ctx, stream, 0, fewMessages)
	if err != nil {
		return 0, err
	}
	subject := strings.NewReplacer("-", ".").Replace(strings.Replace(stream, "seckill-", "seckill-stock-", 1))
	short := false
	for _, m := range messages {
		for look := 0; ; look++ {
			there, err := p.client.Remembers(ctx, subject, m.ID)
			if err != nil {
				return known, err
			}
			if !there {
				break
			}
			if look == 0 {
				known++
			}
			// A change wakes the server's clean-up, which may come too early to see it.
			if !short || look%mostLooks == mostLooks-1 {
				window := shortestWindow + time.Duration(look)*time.Microsecond
				if err := p.client.SetWindow(ctx, stream, window); err != nil {
					return known, err
				}
				short = true
			}
			pause := time.NewTimer(shortestWindow / 10)
			select {
			case <-pause.C:
			case <-ctx.Done():
				pause.Stop()
				return known, errors.Join(context.Cause(ctx), fmt.Errorf("JetStream still knows %s", m.ID))
			}
		}
	}
	if short { // the next message's id is known for long again
		err = p.client.SetWindow(ctx, stream, usualWindow)
	}
	return known, err
}

// usualWindow is what a stream has that says nothing of it.
const usualWindow = 2 * time.Minute

// Look counts the messages of each of the SKU's streams.
func (p jetstream) Look(ctx context.Context, _ string, sku int64) (values []Value) {
	names, err := p.client.Streams(ctx, fmt.Sprint("seckill.stock.*.", sku, ".*"))
	if err != nil {
		return nil
	}
	for _, name := range names {
		if messages, err := p.client.Messages(ctx, name, 0, fewMessages); err == nil {
			values = append(values, Value{"stream " + name, fmt.Sprint(len(messages))})
		}
	}
	return values
}
