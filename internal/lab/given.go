package lab

import (
	"context"
	"fmt"
	"strings"

	"seckill/internal/backend"
)

// givenAddress is empty when the backend was not given.
func givenAddress(c backend.Config, name string) string {
	switch name {
	case backend.NameMySQL:
		return c.MySQLDSN + c.SQLitePath
	case backend.NameRedis:
		return strings.Join(c.RedisAddrs, ",")
	case backend.NameRedlock:
		return strings.Join(c.RedlockAddrs, ",")
	case backend.NameZooKeeper:
		return strings.Join(c.ZooKeeperAddrs, ",")
	case backend.NameEtcd:
		return strings.Join(c.EtcdEndpoints, ",")
	}
	return ""
}

// checkGiven makes sure that a backend which was given answers, because the
// lab cannot run without what somebody asked for by its address.
func (l *Lab) checkGiven(ctx context.Context, name, address string) (backend.Status, error) {
	status := backend.Status{Name: name, Tier: backend.Given, Address: address, OK: true}
	ask := map[string]func(context.Context, string) (string, error){
		backend.NameMySQL: mysqlVersion, backend.NameRedis: redisVersion, backend.NameRedlock: redisVersion,
		backend.NameZooKeeper: zookeeperVersion, backend.NameEtcd: etcdVersion,
	}[name]
	each := strings.Split(address, ",")
	switch name {
	case backend.NameRedis:
		status.Address = backend.ShowRedis(l.options.Given.RedisAddrs)
	case backend.NameRedlock:
		status.Address = backend.ShowRedis(l.options.Given.RedlockAddrs)
	case backend.NameMySQL:
		each = []string{address}
		status.Address = backend.Redact(address)
		if l.options.Given.SQLitePath != "" {
			status.Address, ask = address, sqliteVersion
		}
	}
	for _, one := range each {
		asking, cancel := context.WithTimeout(ctx, patience/6)
		version, err := ask(asking, one)
		cancel()
		if err != nil {
			return status, fmt.Errorf("%s at %s does not answer: %w (is it running, and is the address right?)",
				name, backend.Redact(one), err)
		}
		status.Version = version
	}
	return status, nil
}
