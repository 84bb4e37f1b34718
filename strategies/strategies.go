// Package strategies lists every way of deducting stock in teaching order.
package strategies

import (
	"seckill/internal/catalog"
	"seckill/strategies/counter"
	"seckill/strategies/etcdlock"
	"seckill/strategies/hotsku"
	"seckill/strategies/local"
	"seckill/strategies/mysqllock"
	"seckill/strategies/redislock"
	"seckill/strategies/sqlrow"
	"seckill/strategies/zklock"
)

// All returns the strategies in the order in which they are taught.
func All() []catalog.Info {
	return []catalog.Info{
		sqlrow.Naive, sqlrow.Atomic, sqlrow.Conditional, sqlrow.ConditionalScan, sqlrow.Version, sqlrow.Timestamp,
		sqlrow.ForUpdate, sqlrow.ForUpdateNowait, sqlrow.ForUpdateAutocommit, sqlrow.ForUpdateScan,
		local.MutexPerRequest, local.Mutex, local.MutexPerSKU, local.UnlockBeforeCommit,
		mysqllock.LockInsertPlain, mysqllock.LockInsertByName, mysqllock.LockInsert, mysqllock.LockRow,
		mysqllock.LockTableV1, mysqllock.LockTableCentral, mysqllock.LockTableSegmented, mysqllock.GetLock,
		mysqllock.SnapshotFirst, mysqllock.MySQLCounter,
		redislock.RedisGetSet, redislock.RedisRandomKey, redislock.RedisSetNX, redislock.RedisSetNXExpire,
		redislock.RedisSetEX, redislock.RedisSetNXTimestamp, redislock.RedisGETSET, redislock.RedisSetNXPX,
		redislock.RedisRenew, redislock.RedisToken, redislock.RedisLua, redislock.RedisRegistry,
		redislock.RedisWatchdog, redislock.RedisBLPOP, redislock.Redsync, redislock.Redlock,
		redislock.RedisMultiLock, redislock.RedisLockMySQL,
		zklock.ZK, zklock.ZKNoRecheck, zklock.ZKHerd, zklock.ZKNode,
		etcdlock.Etcd, etcdlock.EtcdNode,
		redislock.RedisFenced, zklock.ZKFenced, etcdlock.EtcdFenced,
		counter.RedisCounter, counter.RedisMulti, counter.RedisCounterMySQL,
		hotsku.OrderFirst, hotsku.OneTrip, hotsku.Queued, hotsku.Merged, hotsku.MergedEarly, hotsku.Bucketed,
		hotsku.BucketedHasty, hotsku.UnitRows, hotsku.UnitRowsHasty, hotsku.RedisStream, hotsku.RedisStreamTwoCalls,
		hotsku.Reserve, hotsku.ReserveLate,
	}
}

// Named returns the strategy of that name, or an empty Info if there is none.
func Named(name string) catalog.Info {
	for _, i := range All() {
		if i.Name == name {
			return i
		}
	}
	return catalog.Info{}
}
