// Package strategies lists every way of deducting stock in teaching order.
package strategies

import (
	"cmp"
	"embed"
	"slices"

	"seckill/internal/catalog"
	"seckill/internal/seckill"
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
	return slices.Concat(
		withFiles("sqlrow", sqlrow.Files, sqlrow.Naive, sqlrow.Atomic, sqlrow.Conditional, sqlrow.ConditionalScan,
			sqlrow.Version, sqlrow.Timestamp, sqlrow.ForUpdate, sqlrow.ForUpdateNowait, sqlrow.ForUpdateAutocommit,
			sqlrow.ForUpdateScan),
		withFiles("local", local.Files,
			local.MutexPerRequest, local.Mutex, local.MutexPerSKU, local.UnlockBeforeCommit),
		withFiles("mysqllock", mysqllock.Files, mysqllock.LockInsertPlain, mysqllock.LockInsertByName,
			mysqllock.LockInsert, mysqllock.LockRow, mysqllock.LockTableV1, mysqllock.LockTableCentral,
			mysqllock.LockTableSegmented,
			mysqllock.GetLock, mysqllock.SnapshotFirst, mysqllock.MySQLCounter),
		withFiles("redislock", redislock.Files, redislock.RedisGetSet, redislock.RedisRandomKey, redislock.RedisSetNX,
			redislock.RedisSetNXExpire, redislock.RedisSetEX, redislock.RedisSetNXTimestamp, redislock.RedisGETSET,
			redislock.RedisSetNXPX, redislock.RedisRenew, redislock.RedisToken, redislock.RedisLua,
			redislock.RedisRegistry, redislock.RedisWatchdog, redislock.RedisBLPOP, redislock.Redsync,
			redislock.Redlock, redislock.RedisMultiLock, redislock.RedisLockMySQL),
		withFiles("zklock", zklock.Files, zklock.ZK, zklock.ZKNoRecheck, zklock.ZKHerd, zklock.ZKNode),
		withFiles("etcdlock", etcdlock.Files, etcdlock.Etcd, etcdlock.EtcdNode),
		withFiles("redislock", redislock.Files, redislock.RedisFenced),
		withFiles("zklock", zklock.Files, zklock.ZKFenced),
		withFiles("etcdlock", etcdlock.Files, etcdlock.EtcdFenced),
		withFiles("counter", counter.Files, counter.RedisCounter, counter.RedisMulti, counter.RedisCounterMySQL),
		withFiles("hotsku", hotsku.Files, hotsku.OrderFirst, hotsku.OneTrip, hotsku.Queued, hotsku.Merged,
			hotsku.MergedEarly, hotsku.Bucketed, hotsku.BucketedHasty, hotsku.UnitRows, hotsku.UnitRowsHasty,
			hotsku.RedisStream, hotsku.RedisStreamTwoCalls, hotsku.Reserve, hotsku.ReserveLate),
	)
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

// withFiles sets the family and the files of infos. If an entry does not say where the stock is, or
// which statements read and write the stock, withFiles fills in the stock row and its statements.
func withFiles(family string, files embed.FS, infos ...catalog.Info) []catalog.Info {
	for i := range infos {
		infos[i].Family, infos[i].Files = family, files
		infos[i].Stock = cmp.Or(infos[i].Stock, seckill.InRow)
		stored := &infos[i].Stored
		stored.Reads = cmp.Or(stored.Reads, "SELECT num")
		stored.Writes = cmp.Or(stored.Writes, "UPDATE stock SET num")
	}
	return infos
}
