package backend

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// A Kind is one kind of backend.
type Kind struct {
	Name      string // NameMySQL, …
	Title     string // the name in messages, as in "no Redis is configured"
	Offers    []Capability
	Addresses []Address

	ask func(*Instance, context.Context) error // sends a question and returns nil if the backend answers
}

// An Address is one field of Config that contains the address of a backend. Either list or text is set.
type Address struct {
	Flag, Env string
	list      func(*Config) *[]string
	text      func(*Config) *string
}

// Kinds lists all backends, in the order in which tables show them.
var Kinds = []Kind{
	{Name: NameMySQL, ask: (*Instance).askSQL, Title: "MySQL or MariaDB",
		Offers: []Capability{SQL, RowLocks, Procedures, SkipLocked, ReadCommitted}, // SQLite offers only SQL
		Addresses: []Address{
			{Flag: "--mysql-dsn", Env: "SECKILL_MYSQL_DSN", text: func(c *Config) *string { return &c.MySQLDSN }},
			{Flag: "--sqlite-path", Env: "SECKILL_SQLITE_PATH", text: func(c *Config) *string { return &c.SQLitePath }}}},
	{Name: NameRedis, ask: (*Instance).askRedis, Title: "Redis", Offers: []Capability{Redis},
		Addresses: []Address{
			{Flag: "--redis-addrs", Env: "SECKILL_REDIS_ADDRS", list: func(c *Config) *[]string { return &c.RedisAddrs }},
			{Flag: "--redis-sentinels", Env: "SECKILL_REDIS_SENTINELS",
				list: func(c *Config) *[]string { return &c.RedisSentinels }},
			{Flag: "--redis-ring", Env: "SECKILL_REDIS_RING", list: func(c *Config) *[]string { return &c.RedisRing }}}},
	{Name: NameRedlock, ask: (*Instance).askRedlock, Title: "quorum of five Redis nodes",
		Offers: []Capability{RedisQuorum}, Addresses: []Address{{
			Flag: "--redlock-addrs", Env: "SECKILL_REDLOCK_ADDRS", list: func(c *Config) *[]string { return &c.RedlockAddrs }}}},
	{Name: NameZooKeeper, ask: (*Instance).askZooKeeper, Title: "ZooKeeper",
		Offers: []Capability{ZooKeeper}, Addresses: []Address{{
			Flag: "--zookeeper-addrs", Env: "SECKILL_ZOOKEEPER_ADDRS",
			list: func(c *Config) *[]string { return &c.ZooKeeperAddrs }}}},
	{Name: NameEtcd, ask: (*Instance).askEtcd, Title: "etcd",
		Offers: []Capability{Etcd}, Addresses: []Address{{
			Flag: "--etcd-endpoints", Env: "SECKILL_ETCD_ENDPOINTS", list: func(c *Config) *[]string { return &c.EtcdEndpoints }}}},
}

// In returns the addresses that this field of c contains.
func (a Address) In(c Config) []string {
	if a.list != nil {
		return *a.list(&c)
	}
	if text := *a.text(&c); text != "" {
		return []string{text}
	}
	return nil
}

func (a Address) setIn(c *Config, to []string) {
	if a.list != nil {
		*a.list(c) = to
	} else {
		*a.text(c) = strings.Join(to, ",")
	}
}

// In returns the addresses of a backend in c; nil if it is not configured.
func (k Kind) In(c Config) (addresses []string) {
	for _, a := range k.Addresses {
		addresses = append(addresses, a.In(c)...)
	}
	return addresses
}

// Flags returns the flags that configure the backend in c, joined by "and".
func (k Kind) Flags(c Config) string {
	var flags []string
	for _, a := range k.Addresses {
		if len(a.In(c)) > 0 {
			flags = append(flags, a.Flag)
		}
	}
	return strings.Join(flags, " and ")
}

func (k Kind) copyAddresses(to, from *Config) {
	for _, a := range k.Addresses {
		a.setIn(to, a.In(*from))
	}
}

func (k Kind) offersAny(needs []Capability) bool {
	return slices.ContainsFunc(k.Offers, func(c Capability) bool { return slices.Contains(needs, c) })
}

// KindOf returns the kind of backend that offers a capability. need may also be a Right.
func KindOf(need Capability) (k Kind, ok bool) {
	i := slices.IndexFunc(Kinds, func(k Kind) bool { return slices.Contains(k.Offers, need.server()) })
	if i < 0 {
		return Kind{}, false
	}
	return Kinds[i], true
}

// Names returns the names of all backends.
func Names() (names []string) {
	for _, k := range Kinds {
		names = append(names, k.Name)
	}
	return names
}

// NamesOf returns the names of the backends that offer any of the needs, without duplicates.
func NamesOf(needs ...Capability) []string {
	names := []string{}
	for _, k := range Kinds {
		if k.offersAny(needs) {
			names = append(names, k.Name)
		}
	}
	return names
}

// Only returns c without the backends that offer none of the needs.
func (c Config) Only(needs ...Capability) Config {
	for _, k := range Kinds {
		if !k.offersAny(needs) {
			k.copyAddresses(&c, &Config{})
		}
	}
	return c
}

// Or returns c with the backends it lacks taken from other.
func (c Config) Or(other Config) Config {
	for _, k := range Kinds {
		if len(k.In(c)) == 0 {
			k.copyAddresses(&c, &other)
		}
	}
	return c
}

const quorumNodes = 5

var sqliteLacks = map[Capability]string{RowLocks: "row locks", Procedures: "stored procedures",
	SkipLocked: "SKIP LOCKED", ReadCommitted: "READ COMMITTED"}

// Has reports whether the configured backends offer a capability, and if not, why.
func (c Config) Has(need Capability) (ok bool, why string) {
	k, known := KindOf(need)
	addresses := k.In(c)
	switch {
	case !known:
		return false, fmt.Sprintf("unknown capability %q", need)
	case need == SQL:
		return len(addresses) > 0, "no SQL database is configured: give --mysql-dsn or --sqlite-path"
	case c.SQLitePath != "" && sqliteLacks[need] != "":
		return false, fmt.Sprintf("SQLite has no %s: install MariaDB or MySQL (seckill doctor says how), "+
			"or give --mysql-dsn", sqliteLacks[need])
	case need.server() == RedisQuorum:
		return len(addresses) >= quorumNodes, "five independent Redis nodes are needed: give --redlock-addrs"
	}
	return len(addresses) > 0, fmt.Sprintf("no %s is configured: install one (seckill doctor says how), or give %s",
		k.Title, k.Addresses[0].Flag)
}

// Has reports whether the instance offers a capability, and if not, why. In addition to Config.Has it knows what a
// server has denied.
func (in *Instance) Has(need Capability) (ok bool, why string) {
	if why := in.Lacks[need]; why != "" {
		return false, why
	}
	return in.Config.Has(need)
}

// Environment returns the environment variables with which `seckill serve` uses the backends of c. The variables of
// backends that are not configured are empty.
func (c Config) Environment() map[string]string {
	env := map[string]string{}
	for _, k := range Kinds {
		for _, a := range k.Addresses {
			env[a.Env] = strings.Join(a.In(c), ",")
		}
	}
	return env
}

// Set sets the first of the backend's address fields in c.
func (k Kind) Set(c *Config, addresses ...string) { k.Addresses[0].setIn(c, addresses) }
