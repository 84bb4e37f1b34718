package zklock

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/go-zookeeper/zk"

	"seckill/internal/lock"
	"seckill/internal/seckill"
	"seckill/internal/tap"
)

// This file has the nodes of a queue: how a contender creates its node, finds
// the node ahead of it and deletes its own. A node is called
// _c_GUID-lock-NUMBER. The contender chooses the GUID at random, as Curator
// does, and the server appends the NUMBER.

func stockPath(sku int64) string {
	return fmt.Sprint("/seckill/locks/stock-", sku)
}

// createNode creates our node and returns its name. If the connection breaks,
// the node may exist although no reply has arrived. So createNode searches for
// the GUID before it tries again, because a second node of ours would wait for
// the first.
func (l *zkLock) createNode(
	ctx context.Context, key, guid string,
) (name string, err error) {
	prefix := key + "/_c_" + guid + "-lock-"
	for failures := 0; ; {
		path, err := l.zk.Create(ctx, prefix, nil,
			zk.FlagEphemeralSequential)
		if err == nil {
			return path[len(key)+1:], nil
		}
		if failures++; failures > zkRetries || ctx.Err() != nil {
			return "", err
		}
		if errors.Is(err, zk.ErrNoNode) { // the queue has no directory yet
			if err := l.zk.EnsurePath(ctx, key); err != nil {
				return "", err
			}
			continue
		}
		if _, err := l.session(ctx); err != nil {
			return "", err
		}
		names, _, err := l.zk.Children(ctx, key)
		if err != nil && !errors.Is(err, zk.ErrNoNode) {
			return "", err
		}
		for _, name := range names {
			if strings.Contains(name, guid) {
				return name, nil
			}
		}
	}
}

func newGUID() string {
	var b [16]byte
	rand.Read(b[:])
	return fmt.Sprintf("%x", b)
}

// predecessor finds the node right ahead of our own node, and reports whether
// our own node is in the list. It compares only the numbers, so that clients
// with other prefixes can share the queue. The server's counter is a signed
// 32-bit number that may overflow. So a number a is earlier than b if counting
// up from a reaches b in less than 2³¹ steps.
func predecessor(names []string, own string) (ahead string, here bool) {
	mine, _ := sequenceNumber(own)
	var nearest int32
	for _, name := range names {
		if name == own {
			here = true
			continue
		}
		n, ok := sequenceNumber(name)
		if !ok {
			continue // a node without a number is not in the queue
		}
		behind := n - mine // wraps around, like the counter
		if behind < 0 && (ahead == "" || behind > nearest) {
			ahead, nearest = name, behind
		}
	}
	return ahead, here
}

// sequenceNumber reads the sequence number at the end of a node's name. The
// server writes ten digits, or a minus sign and at least nine digits.
func sequenceNumber(name string) (n int32, ok bool) {
	front := strings.TrimRight(name, "0123456789")
	digits := name[len(front):]
	switch {
	case len(digits) < 9:
		return 0, false
	case len(digits) == 9: // the name must end like -123456789
		if !strings.HasSuffix(front, "-") {
			return 0, false
		}
		digits = "-" + digits
	case len(digits) == 10 && digits[0] != '0' &&
		strings.HasSuffix(front, "--"): // the name is like lock--1234567890
		digits = "-" + digits
	default: // the last ten digits are the number
		digits = digits[len(digits)-10:]
	}
	v, err := strconv.ParseInt(digits, 10, 32)
	return int32(v), err == nil
}

// release deletes the node of a holder. If the command fails, Forget deletes
// the node, if necessary later in the background.
func (me *zkContender) release(ctx context.Context) error {
	err := me.zk.Delete(ctx, me.key+"/"+me.node)
	switch {
	case err == nil:
		return nil
	case errors.Is(err, zk.ErrNoNode):
		return lock.ErrNotHeld
	}
	err = me.zk.Forget(ctx, me.key, me.guid)
	if err != nil {
		err = fmt.Errorf("%w: %w", seckill.ErrUnavailable, err)
	}
	return err
}

// leave deletes the node of a contender that gives up, even when its buyer has
// left, because the node would otherwise stay as long as our session. If the
// command fails, the client tries again in the background.
func (me *zkContender) leave(ctx context.Context) error {
	ctx, cancel := tap.WithTimeout(context.WithoutCancel(ctx), zkTimeout)
	defer cancel()
	if me.node != "" && me.zk.Connected() {
		err := me.zk.Delete(ctx, me.key+"/"+me.node)
		if err == nil || errors.Is(err, zk.ErrNoNode) {
			return nil
		}
	}
	return me.zk.Forget(ctx, me.key, me.guid)
}
