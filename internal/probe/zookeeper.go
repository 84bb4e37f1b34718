package probe

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/go-zookeeper/zk"

	"seckill/internal/zkclient"
)

type zookeeper struct {
	client *zkclient.Client
}

// expire deletes the first node of the queue or, if there is no queue, the lock's own node. It deletes only an
// ephemeral node. The session continues, so the client, like a paused one, does not learn that the lock is lost.
func (p zookeeper) expire(ctx context.Context, key string, _ int64, _ *Holder) (string, error) {
	names, err := p.queue(ctx, key)
	if err != nil {
		return "", err
	}
	path := key
	if len(names) > 0 {
		path = key + "/" + names[0]
	}
	return p.remove(ctx, path, 0)
}

func (p zookeeper) giveUp(ctx context.Context, key string, h *Holder) (did []string, err error) {
	names, err := p.queue(ctx, key)
	if err != nil {
		return nil, err
	}
	paths := []string{key}
	for _, name := range names {
		paths = append(paths, key+"/"+name)
	}
	for _, path := range paths {
		what, err := p.remove(ctx, path, h.Session)
		if err != nil {
			return did, err
		}
		if what != "" {
			did = append(did, what)
		}
	}
	return did, nil
}

// remove deletes an ephemeral node and returns a description; "" if there was no such node. If
// session is not 0, remove deletes only a node of this session.
func (p zookeeper) remove(ctx context.Context, path string, session int64) (string, error) {
	stat, err := p.client.Exists(ctx, path)
	if err != nil || stat == nil || stat.EphemeralOwner == 0 || session != 0 && stat.EphemeralOwner != session {
		return "", err
	}
	switch err := p.client.Delete(ctx, path); {
	case errors.Is(err, zk.ErrNoNode):
		return "", nil
	case err != nil:
		return "", err
	}
	return "the session of " + path + " ends", nil
}

func (p zookeeper) queue(ctx context.Context, key string) ([]string, error) {
	names, _, err := p.client.Children(ctx, key)
	if errors.Is(err, zk.ErrNoNode) {
		return nil, nil
	}
	slices.SortFunc(names, zkclient.BySequence)
	return names, err
}

func (p zookeeper) values(ctx context.Context, key string, _ int64) []Value {
	names, _ := p.queue(ctx, key)
	values := []Value{{key, strings.Join(names, " ")}}
	if stat, err := p.client.Exists(ctx, key); err == nil && stat != nil && stat.EphemeralOwner != 0 {
		values = append(values, Value{key, "there"})
	}
	return values
}
