package backend

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/redis/go-redis/v9"
)

// redisCalls lists a sample call, without its key, of every command that a strategy or one of its scripts uses.
var redisCalls = [...]any{"BLPOP", "DECRBY", "DEL", "EVAL script 1", "EVALSHA script 1", "EXEC", "EXISTS", "GET",
	"GETSET", "HDEL", "HEXISTS", "HGET", "HLEN", "HSET", "HSETNX", "INCR", "INCRBY", "LPUSH", "MGET", "MULTI",
	"PEXPIRE", "PSETEX", "PTTL", "PUBLISH", "SET", "SUBSCRIBE", "TYPE", "UNWATCH", "WATCH", "XACK", "XADD", "XAUTOCLAIM", "XDEL", "XGROUP CREATE", "XLEN", "XPENDING",
	"XRANGE", "XREADGROUP GROUP writers me STREAMS", "ZADD", "ZCARD", "ZRANGE", "ZRANGEBYSCORE", "ZREM", "ZSCORE"}

// deniedLua returns the names of the commands in ARGV that the current user may not send with the keys and the
// channel of the service. It needs Redis 7. Unlike ACL DRYRUN it needs no administrator's rights.
const deniedLua = `
local denied, channel = {}, 'redisson_lock__channel:{seckill:lock:stock:1}'
for _, call in ipairs(ARGV) do
	local keys = {channel, 'seckill:lock:stock:1', '{seckill:stock:1}:run'}
	if call == 'PUBLISH' or call == 'SUBSCRIBE' then keys = {channel} end
	for _, key in ipairs(keys) do
		local words = {}
		for word in string.gmatch(call .. ' ' .. key, '%S+') do table.insert(words, word) end
		if not redis.acl_check_cmd(unpack(words)) then
			table.insert(denied, words[1])
			break
		end
	end
end
return denied`

// Right returns the capability to send a command to the servers of a capability, Redis or RedisQuorum.
func Right(of Capability, command string) Capability { return of + Capability(" "+command) }

// server returns the capability to which a Right belongs. Of any other capability it returns c itself.
func (c Capability) server() Capability {
	of, _, _ := strings.Cut(string(c), " ")
	return Capability(of)
}

// askRights adds to Lacks the commands that the user may not send to Redis. It adds nothing if the server is too old
// to answer.
func (in *Instance) askRights(ctx context.Context, c redis.Scripter, of Capability, addresses []string) {
	denied, err := c.Eval(ctx, deniedLua, nil, redisCalls[:]...).StringSlice()
	if redis.IsPermissionError(err) {
		denied = []string{"EVAL"}
	}
	login, err := ParseRedis(addresses[0])
	if err != nil {
		return
	}
	for _, command := range denied {
		in.Lacks[Right(of, command)] = fmt.Sprintf("user %s of Redis has no right to %s: docs/cli.md lists the rights needed",
			cmp.Or(login.Username, "default"), command)
	}
}
