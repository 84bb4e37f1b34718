-- Takes a lock, or extends it if it is the caller's already.
-- KEYS[1]  the lock: the ARGV[1] of its holder
-- ARGV[1]  the caller as "client-turn". All buyers of a process are the same
--          client; its turns rise
-- ARGV[2]  the lease in milliseconds
-- Answers 1 if the lock is the caller's now, 0 if another holds it.
if redis.call('TYPE', KEYS[1]).ok ~= 'string' then
	if redis.call('SET', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2]) then
		return 1
	end
	return 0 -- a key of another type is another program's lock
end
local held = redis.call('GET', KEYS[1])
if held == ARGV[1] then
	if redis.call('PTTL', KEYS[1]) < tonumber(ARGV[2]) then
		redis.call('PEXPIRE', KEYS[1], ARGV[2])
	end
	return 1
end
-- If an earlier turn of this client left its lock behind, this turn takes it
-- over. The new value protects it from a release of the earlier turn that is
-- still on its way.
local client, turn = string.match(ARGV[1], '^(%w+)-(%d+)$')
local holder, earlier = string.match(held, '^(%w+)-(%d+)$')
if holder == client and tonumber(earlier) < tonumber(turn) then
	redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
	return 1
end
return 0
