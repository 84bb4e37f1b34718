package main

import "seckill/internal/backend"

// BackendFlags are the addresses of backends that run already.
type BackendFlags struct {
	MySQLDSN       string   `name:"mysql-dsn" env:"SECKILL_MYSQL_DSN" placeholder:"DSN" help:"MySQL or MariaDB: user:password@tcp(host:port)/database."`
	SQLitePath     string   `name:"sqlite-path" env:"SECKILL_SQLITE_PATH" placeholder:"FILE" help:"SQLite file, instead of MySQL."`
	RedisAddrs     []string `env:"SECKILL_REDIS_ADDRS" placeholder:"HOST:PORT" help:"Redis: host:port or redis://:password@host:port; several addresses are a Cluster."`
	RedlockAddrs   []string `env:"SECKILL_REDLOCK_ADDRS" placeholder:"HOST:PORT" help:"Five independent Redis nodes, each host:port or redis://:password@host:port."`
	ZooKeeperAddrs []string `name:"zookeeper-addrs" env:"SECKILL_ZOOKEEPER_ADDRS" placeholder:"HOST:PORT" help:"ZooKeeper servers: host:port."`
	EtcdEndpoints  []string `env:"SECKILL_ETCD_ENDPOINTS" placeholder:"HOST:PORT" help:"etcd servers: host:port."`
}

func (f BackendFlags) config() backend.Config {
	return backend.Config{
		MySQLDSN: f.MySQLDSN, SQLitePath: f.SQLitePath, RedisAddrs: given(f.RedisAddrs),
		RedlockAddrs: given(f.RedlockAddrs), ZooKeeperAddrs: given(f.ZooKeeperAddrs), EtcdEndpoints: given(f.EtcdEndpoints),
	}
}
