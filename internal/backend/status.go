package backend

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"
)

// statusTimeout bounds the wait for each backend.
const statusTimeout = 2 * time.Second

// Status asks all configured backends concurrently whether they answer, and waits for
// so long at most.
func (in *Instance) Status(ctx context.Context) []Status {
	ctx, cancel := context.WithTimeoutCause(ctx, statusTimeout, errors.New("it has not answered in time"))
	defer cancel()
	var asking sync.WaitGroup
	configured := slices.DeleteFunc(slices.Clone(Kinds), func(k Kind) bool { return len(k.In(in.Config)) == 0 })
	all := make([]Status, len(configured))
	for i, k := range configured {
		asking.Go(func() {
			err := k.ask(in, ctx)
			all[i] = Status{Name: k.Name, Tier: in.Tier(k.Name), Address: showAddresses(k.In(in.Config)), Version: in.versions[k.Name], OK: err == nil}
			if err != nil {
				all[i].Error = err.Error()
			}
		})
	}
	asking.Wait()
	return all
}

func (in *Instance) askSQL(ctx context.Context) error {
	var one int
	return in.DB.WithContext(ctx).Raw("SELECT 1").Scan(&one).Error
}

// askRedlock needs the majority that the lock needs.
func (in *Instance) askRedlock(ctx context.Context) error {
	errs := make([]error, len(in.RedisNodes))
	var asking sync.WaitGroup
	for i, node := range in.RedisNodes {
		asking.Go(func() { errs[i] = node.Ping(ctx).Err() })
	}
	asking.Wait()
	answered := 0
	for _, err := range errs {
		if err == nil {
			answered++
		}
	}
	if answered > len(errs)/2 {
		return nil
	}
	return fmt.Errorf("%d of %d nodes answer: %w", answered, len(errs), errors.Join(errs...))
}

func (in *Instance) askZooKeeper(ctx context.Context) error {
	if !in.ZooKeeper.Connected() {
		return errors.New("there is no connection to any server")
	}
	_, err := in.ZooKeeper.Exists(ctx, "/")
	return err
}

// askEtcd reads a missing key, which takes a quorum.
func (in *Instance) askEtcd(ctx context.Context) error {
	_, err := in.Etcd.Get(ctx, "seckill/status")
	return err
}
