package backend

import (
	"cmp"
	"context"
	"fmt"
	"net"
	"strings"
	"time"

	"github.com/go-zookeeper/zk"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"

	"seckill/internal/tap"
	"seckill/internal/tap/etcdtap"
	"seckill/internal/zkclient"
)

// openEtcd connects to etcd. The client never repeats a write that may have reached the server, so package tap sees
// every write that is sent.
func (in *Instance) openEtcd(ctx context.Context, addresses []string) error {
	endpoints, user, password, err := parseEtcd(addresses)
	if err != nil {
		return err
	}
	dial := func(ctx context.Context, addr string) (net.Conn, error) {
		return in.Dialer.dial(ctx, tap.Etcd, "tcp", addr)
	}
	soon := backoff.DefaultConfig
	soon.MaxDelay = time.Second // by default, the client waits up to two minutes before it dials a restarted server
	c, err := clientv3.New(clientv3.Config{
		Endpoints:   endpoints,
		Username:    user,
		Password:    password,
		DialTimeout: dialTimeout,
		// A server that loses power does not close its connections, so the client probes them.
		DialKeepAliveTime:    10 * time.Second,
		DialKeepAliveTimeout: dialTimeout,
		Logger:               zap.NewNop(), // the client returns its errors, so it need not log them, too
		DialOptions: []grpc.DialOption{
			grpc.WithContextDialer(dial),
			grpc.WithConnectParams(grpc.ConnectParams{Backoff: soon, MinConnectTimeout: dialTimeout}),
		},
	})
	if err != nil {
		if user != "" { // the server may have refused the login, so the error names the user
			err = fmt.Errorf("user %s: %w", user, err)
		}
		return err
	}
	in.closers = append(in.closers, c.Close)
	for _, endpoint := range endpoints {
		var status *clientv3.StatusResponse
		if status, err = in.askEtcdStatus(ctx, c, endpoint); err == nil {
			in.versions[NameEtcd] = "etcd " + status.Version
			break
		}
	}
	if err != nil {
		return err
	}
	etcdtap.Wrap(c)
	in.Etcd = c
	return nil
}

// askEtcdStatus asks one server for its status. It first dials the server itself, because the client would try to reach
// an unreachable server until the timeout.
func (in *Instance) askEtcdStatus(
	ctx context.Context, c *clientv3.Client, endpoint string,
) (*clientv3.StatusResponse, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, 5*time.Second, errSilent)
	defer cancel()
	if err := in.Dialer.dialAny(ctx, tap.Etcd, endpoint[strings.LastIndexByte(endpoint, '/')+1:]); err != nil {
		return nil, err
	}
	status, err := c.Status(ctx, endpoint)
	if err != nil && ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	return status, err
}

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
