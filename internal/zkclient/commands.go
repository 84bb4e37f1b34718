package zkclient

import (
	"cmp"
	"context"
	"errors"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/go-zookeeper/zk"

	"seckill/internal/tap"
)

// Create creates a node and returns its path, with the sequence number that the server adds if flags ask for one. If
// the error is not a refusal of ZooKeeper (zk.ErrNoNode, zk.ErrNodeExists, …), the outcome is unknown.
func (c *Client) Create(ctx context.Context, path string, data []byte, flags int32) (string, error) {
	a, err := c.sendCommand(ctx, "create", path+createKind(flags), func(a *reply) error {
		created, err := c.conn.Create(path, data, flags, zk.WorldACL(zk.PermAll))
		a.path = created
		return err
	})
	return a.path, err
}

// EnsurePath creates a persistent node and its missing parents.
func (c *Client) EnsurePath(ctx context.Context, node string) error {
	_, err := c.Create(ctx, node, nil, zk.FlagPersistent)
	if parent := path.Dir(node); errors.Is(err, zk.ErrNoNode) && parent != "/" {
		if err = c.EnsurePath(ctx, parent); err == nil {
			_, err = c.Create(ctx, node, nil, zk.FlagPersistent)
		}
	}
	if errors.Is(err, zk.ErrNodeExists) {
		return nil
	}
	return err
}

// Children returns the names (not the paths) of a node's children, and the stat of the node.
func (c *Client) Children(ctx context.Context, path string) ([]string, *zk.Stat, error) {
	a, err := c.sendCommand(ctx, "getChildren", path, func(a *reply) (err error) {
		a.names, a.stat, err = c.conn.Children(path)
		return err
	})
	return a.names, a.stat, err
}

// ChildrenW does the same as Children, and returns a channel that receives an event when the children change.
func (c *Client) ChildrenW(ctx context.Context, path string) ([]string, *zk.Stat, <-chan zk.Event, error) {
	a, err := c.sendCommand(ctx, "getChildren", path+" watch", func(a *reply) (err error) {
		a.names, a.stat, a.change, err = c.conn.ChildrenW(path)
		return err
	})
	return a.names, a.stat, a.change, err
}

// Exists returns a node's stat, or nil if there is no such node.
func (c *Client) Exists(ctx context.Context, path string) (*zk.Stat, error) {
	a, err := c.sendCommand(ctx, "exists", path, func(a *reply) error {
		ok, stat, err := c.conn.Exists(path)
		if ok {
			a.stat = stat
		}
		return err
	})
	return a.stat, err
}

// Get returns a node's data and stat.
func (c *Client) Get(ctx context.Context, path string) ([]byte, *zk.Stat, error) {
	a, err := c.sendCommand(ctx, "getData", path, func(a *reply) (err error) {
		a.data, a.stat, err = c.conn.Get(path)
		return err
	})
	return a.data, a.stat, err
}

// GetW does the same as Get, and returns a channel that receives an event when the node changes or is removed, or when
// the session ends. After zk.ErrNoNode there is no such channel.
func (c *Client) GetW(ctx context.Context, path string) ([]byte, *zk.Stat, <-chan zk.Event, error) {
	a, err := c.sendCommand(ctx, "getData", path+" watch", func(a *reply) (err error) {
		a.data, a.stat, a.change, err = c.conn.GetW(path)
		return err
	})
	return a.data, a.stat, a.change, err
}

// Wait waits until a watch of this client fires or ctx ends.
//
// The server sends the event of a change before it answers a later request. So Wait passes to tap.WaitWithin a function
// that sends a request: after the answer, a tap knows that no event of an earlier change is still on its way.
func (c *Client) Wait(ctx context.Context, what string, fired <-chan zk.Event) error {
	_, err := tap.WaitWithin(ctx, what, tap.NoLimit, fired, func(context.Context) error {
		_, _, err := c.conn.Exists("/")
		return err
	})
	return err
}

// Delete removes a node. It does not check the node's version.
func (c *Client) Delete(ctx context.Context, path string) error {
	_, err := c.sendCommand(ctx, "delete", path, func(*reply) error { return c.conn.Delete(path, -1) })
	return err
}

// Forget removes the children of dir whose names contain mark. Such a child may exist after a create whose answer was
// lost, or after a delete that failed. See CleanUp.
func (c *Client) Forget(ctx context.Context, dir, mark string) error {
	return c.CleanUp(ctx, func(ctx context.Context) error {
		names, _, err := c.Children(ctx, dir)
		if errors.Is(err, zk.ErrNoNode) {
			return nil
		}
		for _, name := range names {
			if !strings.Contains(name, mark) {
				continue
			}
			if err := c.Delete(ctx, dir+"/"+name); err != nil && !errors.Is(err, zk.ErrNoNode) {
				return err
			}
		}
		return err
	})
}

// CleanUp calls remove, which removes nodes that would otherwise exist as long as the session.
// CleanUp first waits for all commands whose contexts ended before the answer came. One of them may
// be a create that has not reached the server yet.
//
// An error means that remove has failed or ctx has ended. CleanUp then repeats remove in the background, bypassing the
// tap, until remove succeeds or the client is closed. Closing the client also removes its nodes.
func (c *Client) CleanUp(ctx context.Context, remove func(context.Context) error) error {
	c.mu.Lock()
	c.pruneLate()
	late, connected := slices.Clone(c.late), c.connected
	c.mu.Unlock()
	err := errNotConnected
	if connected {
		err = c.cleanUp(ctx, late, remove)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if err == nil || c.life.Err() != nil {
		return err
	}
	c.work.Go(func() {
		for pause := 20 * time.Millisecond; ; pause = min(2*pause, time.Second) {
			if _, err := c.Session(c.life); err == nil && c.cleanUp(c.life, late, remove) == nil {
				return
			}
			if tap.Sleep(c.life, pause) != nil {
				return
			}
		}
	})
	return err
}

func (c *Client) cleanUp(
	ctx context.Context, late []chan struct{}, remove func(context.Context) error,
) error {
	for _, answered := range late {
		if _, err := tap.Wait(ctx, "a ZooKeeper command that was left", answered); err != nil {
			return err
		}
	}
	return remove(ctx)
}

// A reply is the server's reply to a command. Each command sets some of the fields.
type reply struct {
	path   string // the path of a new node
	names  []string
	data   []byte
	stat   *zk.Stat // nil if the node does not exist
	change <-chan zk.Event
}

// sendCommand sends a command through the tap and waits for its reply or the end of ctx. The library takes no
// context, so a goroutine waits for the reply. The goroutine costs 5 % of the time of an uncontended lock.
func (c *Client) sendCommand(ctx context.Context, name, text string, send func(*reply) error) (reply, error) {
	return tap.Do(ctx, tap.ZooKeeper, func() *tap.Command {
		return &tap.Command{Name: name, Text: name + " " + text}
	}, func(ctx context.Context) (reply, error) {
		if ctx.Err() != nil {
			return reply{}, context.Cause(ctx)
		}
		var answer reply
		var failed error
		done := make(chan struct{})
		go func() {
			defer close(done)
			failed = send(&answer)
		}()
		select {
		case <-done:
			return answer, failed
		case <-ctx.Done():
			c.mu.Lock()
			defer c.mu.Unlock()
			c.pruneLate()
			c.late = append(c.late, done)
			return reply{}, context.Cause(ctx)
		}
	}, func(got *reply, err error) string {
		if err != nil {
			return ""
		}
		return got.describe(name)
	})
}

func (a reply) describe(command string) string {
	switch {
	case a.path != "":
		return path.Base(a.path)
	case a.names != nil:
		return strings.Join(slices.SortedFunc(slices.Values(a.names), BySequence), ", ")
	case a.data != nil:
		return string(a.data)
	case a.stat != nil:
		return "it exists"
	case command == "exists":
		return "no node"
	}
	return ""
}

func (c *Client) pruneLate() {
	c.late = slices.DeleteFunc(c.late, func(done chan struct{}) bool {
		select {
		case <-done:
			return true
		default:
			return false
		}
	})
}

func createKind(flags int32) string {
	kind := ""
	if flags&zk.FlagEphemeral != 0 {
		kind = " ephemeral"
	}
	if flags&zk.FlagSequence != 0 {
		kind += " sequential"
	}
	return kind
}

// BySequence compares two names by their sequence numbers, which are the last ten digits. The rest of a name may be
// random.
func BySequence(a, b string) int {
	number := func(name string) string { return name[max(0, len(name)-10):] }
	return cmp.Or(cmp.Compare(number(a), number(b)), cmp.Compare(a, b))
}
