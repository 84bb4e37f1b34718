package backend

import (
	"cmp"
	"context"
	"fmt"
	"net"
	"time"

	"github.com/go-zookeeper/zk"

	"seckill/internal/tap"
	"seckill/internal/zkclient"
)

func (in *Instance) openZooKeeper(ctx context.Context, addresses []string) error {
	if err := in.Dialer.dialAny(ctx, tap.ZooKeeper, zk.FormatServers(addresses)...); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, 5*time.Second, fmt.Errorf("no session: %w", errSilent))
	defer cancel()
	c, err := zkclient.Open(ctx, zkclient.Options{
		Servers:        addresses,
		SessionTimeout: cmp.Or(in.Config.ZooKeeperSession, 6*time.Second),
		Dial: func(ctx context.Context, network, addr string) (net.Conn, error) {
			return in.Dialer.dial(ctx, tap.ZooKeeper, network, addr)
		},
	})
	if err != nil {
		return err
	}
	in.closers = append(in.closers, c.Close)
	in.ZooKeeper = c
	ctx, cancel = context.WithTimeout(ctx, time.Second)
	defer cancel()
	if in.versions[NameZooKeeper], _, err = zkclient.AskServer(ctx, c.Server()); err != nil {
		in.versions[NameZooKeeper] = "ZooKeeper" // a server may forbid the command srvr, so the version stays unknown
	}
	return nil
}
