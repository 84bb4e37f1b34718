package backend

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// A Kind is one kind of backend.
type Kind struct {
	Name      string // such as NameMySQL
	Title     string // name in messages, such as Redis in "no Redis is configured"
	Offers    []Capability
	Addresses []Address

	open func(in *Instance, ctx context.Context, addresses []string) error // connects an instance
	ask  func(*Instance, context.Context) error                            // returns nil if the backend answers
}

// An Address is one field of Config that contains the address of a backend.
type Address struct {
	Flag, Env string // from the tag of the Config field
	index     []int  // index of the Config field
}

func addressFields(names ...string) []Address {
	var all []Address
	for _, name := range names {
		f, _ := reflect.TypeFor[Config]().FieldByName(name)
		all = append(all, Address{Flag: "--" + f.Tag.Get("name"), Env: f.Tag.Get("env"), index: f.Index})
	}
	return all
}

// Kinds lists all backends, in the order in which tables show them.
var Kinds = []Kind{
	{Name: NameMySQL, open: (*Instance).openMySQL, ask: (*Instance).askSQL, Title: "MySQL or MariaDB",
		// SQLite offers only SQL; sqliteLacks lists the other capabilities.
		Offers:    []Capability{SQL, RowLocks, Procedures, SkipLocked, ReadCommitted},
		Addresses: addressFields("MySQLDSN", "SQLitePath")},
	{Name: NameRedis, open: (*Instance).openRedis, ask: (*Instance).askRedis, Title: "Redis", Offers: []Capability{Redis},
		Addresses: addressFields("RedisAddrs", "RedisSentinels", "RedisRing")},
	{Name: NameRedlock, open: (*Instance).openRedlock, ask: (*Instance).askRedlock, Title: "quorum of five Redis nodes",
		Offers: []Capability{RedisQuorum}, Addresses: addressFields("RedlockAddrs")},
	{Name: NameZooKeeper, open: (*Instance).openZooKeeper, ask: (*Instance).askZooKeeper, Title: "ZooKeeper",
		Offers: []Capability{ZooKeeper}, Addresses: addressFields("ZooKeeperAddrs")},
	{Name: NameEtcd, open: (*Instance).openEtcd, ask: (*Instance).askEtcd, Title: "etcd",
		Offers: []Capability{Etcd}, Addresses: addressFields("EtcdEndpoints")},
}

// In returns the addresses that c has in this field.
func (a Address) In(c Config) []string {
	field := reflect.ValueOf(c).FieldByIndex(a.index)
	if list, ok := field.Interface().([]string); ok {
		return list
	}
	if field.IsZero() {
		return nil
	}
	return []string{field.String()}
}

func (a Address) setIn(c *Config, to []string) {
	if field := reflect.ValueOf(c).Elem().FieldByIndex(a.index); field.Kind() == reflect.Slice {
		field.Set(reflect.ValueOf(to))
	} else {
		field.SetString(strings.Join(to, ","))
	}
}

// In returns the addresses of this backend in c, or nil if it is not configured.
func (k Kind) In(c Config) []string {
	var addresses []string
	for _, a := range k.Addresses {
		addresses = append(addresses, a.In(c)...)
	}
	return addresses
}

// Flags returns the flags with which c configures this kind of backend, joined by "and".
func (k Kind) Flags(c Config) string {
	var flags []string
	for _, a := range k.Addresses {
		if len(a.In(c)) > 0 {
			flags = append(flags, a.Flag)
		}
	}
	return strings.Join(flags, " and ")
}

func (k Kind) offersAny(needs []Capability) bool {
	return slices.ContainsFunc(k.Offers, func(c Capability) bool { return slices.Contains(needs, c) })
}

// KindOf returns the kind of backend that offers a capability. It also accepts a result of Right.
func KindOf(need Capability) (Kind, bool) {
	i := slices.IndexFunc(Kinds, func(k Kind) bool { return slices.Contains(k.Offers, need.server()) })
	if i < 0 {
		return Kind{}, false
	}
	return Kinds[i], true
}

// Names returns the names of all backends.
func Names() []string {
	var names []string
	for _, k := range Kinds {
		names = append(names, k.Name)
	}
	return names
}

// NamesOf returns the names of the backends that offer at least one of the needs.
func NamesOf(needs ...Capability) []string {
	names := []string{}
	for _, k := range Kinds {
		if k.offersAny(needs) {
			names = append(names, k.Name)
		}
	}
	return names
}

// Only returns a copy of c that has only the backends that offer at least one of the needs.
func (c Config) Only(needs ...Capability) Config {
	for _, k := range Kinds {
		if !k.offersAny(needs) {
			for _, a := range k.Addresses {
				a.setIn(&c, nil)
			}
		}
	}
	return c
}

var sqliteLacks = map[Capability]string{RowLocks: "row locks", Procedures: "stored procedures",
	SkipLocked: "SKIP LOCKED", ReadCommitted: "READ COMMITTED"}

// Has reports whether the configured backends offer a capability. If they do not, the string says why.
func (c Config) Has(need Capability) (bool, string) {
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
		return len(addresses) >= 5, "five independent Redis nodes are needed: give --redlock-addrs"
	}
	return len(addresses) > 0, fmt.Sprintf("no %s is configured: install one (seckill doctor says how), or give %s",
		k.Title, k.Addresses[0].Flag)
}

// Has reports whether the instance offers a capability. If it does not, the string says why. Unlike Config.Has, this
// method also considers the capabilities that a server denies.
func (in *Instance) Has(need Capability) (bool, string) {
	if why := in.Lacks[need]; why != "" {
		return false, why
	}
	return in.Config.Has(need)
}

// Environment returns the environment variables that make `seckill serve` use the backends of c. The variables of a
// backend that is not configured are empty.
func (c Config) Environment() map[string]string {
	env := map[string]string{}
	for _, k := range Kinds {
		for _, a := range k.Addresses {
			env[a.Env] = strings.Join(a.In(c), ",")
		}
	}
	return env
}

// Set sets the first address field of this kind of backend in c.
func (k Kind) Set(c *Config, addresses ...string) { k.Addresses[0].setIn(c, addresses) }
