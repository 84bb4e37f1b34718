-- Takes a lock, or extends one that is the caller's already.
-- KEYS[1]  the lock
-- ARGV[1]  the caller's client, one for all buyers of a process
-- ARGV[2]  the lease in milliseconds
-- Answers 1 if the lock is the caller's now, 0 if it is somebody else's.
if redis.call('TYPE', KEYS[1]).ok ~= 'string' then
	if redis.call('SET', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2]) then
		return 1
	end
	return 0 -- a key of another type is somebody else's lock
end
if redis.call('GET', KEYS[1]) == ARGV[1] then
	redis.call('PEXPIRE', KEYS[1], ARGV[2])
	return 1
end
return 0
