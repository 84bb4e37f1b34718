-- Takes a lock, or extends it if it is the caller's already.
-- KEYS[1]  the lock: "client:turn" of its holder
-- ARGV[1]  the caller's client, the same for all buyers of a process
-- ARGV[2]  the caller's turn; the turns of a client rise
-- ARGV[3]  the lease in milliseconds
-- Answers 1 if the lock is the caller's now, 0 if another holds it.
local mine = ARGV[1] .. ':' .. ARGV[2]
if redis.call('TYPE', KEYS[1]).ok ~= 'string' then
	if redis.call('SET', KEYS[1], mine, 'NX', 'PX', ARGV[3]) then
		return 1
	end
	return 0 -- a key of another type is another program's lock
end
local held = redis.call('GET', KEYS[1])
if held == mine then
	if redis.call('PTTL', KEYS[1]) < tonumber(ARGV[3]) then
		redis.call('PEXPIRE', KEYS[1], ARGV[3])
	end
	return 1
end
-- If an earlier turn of this client left its lock behind, this turn takes it
-- over. The new value protects it from a release of the earlier turn that is
-- still on its way.
local turn = string.match(held, '^' .. ARGV[1] .. ':(%d+)$')
if turn and tonumber(turn) < tonumber(ARGV[2]) then
	redis.call('SET', KEYS[1], mine, 'PX', ARGV[3])
	return 1
end
return 0
