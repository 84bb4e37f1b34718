package backend

import "context"

// ZooKeeperClient is one ZooKeeper session.
type ZooKeeperClient struct{}

func (in *Instance) openZooKeeper(ctx context.Context) error { return nil }
