package etcdlock

import (
	"seckill/internal/catalog"
)

// EtcdFenced is the queue of `etcd` with a stock row that refuses the write of
// an earlier holder (internal/lock/fenced.go).
//
// The fencing token is our key's create revision. etcd numbers each change of
// the whole store, and the queue serves keys in the order of these numbers. So
// each grant has a greater token than the grants before it. (A key's version
// is no token, because it begins at 1 for each new key.)
var EtcdFenced = family.Strategy(catalog.Info{
	Name: "etcd-fenced",
	Source: "Martin Kleppmann, How to do distributed locking (2016); " +
		"etcd's own documentation: the revision as fencing token",
	Guarantees: catalog.Robust.Holds(catalog.Owner, catalog.NodeLoss),
	Also:       []string{"etcd.go", "session.go", "contender.go"},
	Fenced:     true,
	Locker:     Etcd.Locker,
})
