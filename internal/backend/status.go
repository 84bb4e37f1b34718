package backend

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
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
	backends := in.configured()
	all := make([]Status, len(backends))
	for i, b := range backends {
		asking.Go(func() {
			err := b.ask(ctx)
			all[i] = Status{Name: b.name, Tier: in.Tier(b.name), Address: b.address,
				Version: in.versions[b.name], OK: err == nil}
			if err != nil {
				all[i].Error = withoutUser(err.Error())
			}
		})
	}
	asking.Wait()
	return all
}

// withoutUser removes the user and the password from addresses in a text.
func withoutUser(text string) string { return userInfo.ReplaceAllString(text, "//") }

var userInfo = regexp.MustCompile(`//[^/\s"]*@`)

type asked struct {
	name, address string
	ask           func(context.Context) error
}

func (in *Instance) configured() []asked {
	var all []asked
	if in.DB != nil {
		all = append(all, asked{NameMySQL, in.sqlAddress(), in.askSQL})
	}
	if in.Redis != nil {
		all = append(all, asked{NameRedis, ShowAddresses(in.Config.RedisAddresses()), in.askRedis})
	}
	if len(in.RedisNodes) > 0 {
		all = append(all, asked{NameRedlock, ShowAddresses(in.Config.RedlockAddrs), in.askRedlock})
	}
	if in.ZooKeeper != nil {
		all = append(all, asked{NameZooKeeper, strings.Join(in.Config.ZooKeeperAddrs, ","), in.askZooKeeper})
	}
	if in.Etcd != nil {
		all = append(all, asked{NameEtcd, withoutUser(strings.Join(in.Config.EtcdEndpoints, ",")), in.askEtcd})
	}
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
