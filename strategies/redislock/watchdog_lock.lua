-- Takes a lock if it is free.
-- KEYS[1]  the lock: a hash with its owner as the only field
-- ARGV[1]  the owner who asks
-- ARGV[2]  the lease in milliseconds
-- Answers -4 if the owner has the lock now. Otherwise it answers how many
-- milliseconds the lease of the other owner has left, or -3 if the key is no
-- hash: then nobody will publish its end.
local left = redis.call('PTTL', KEYS[1])
if left == -2 then -- there is no such key
	redis.call('HSET', KEYS[1], ARGV[1], 1)
	redis.call('PEXPIRE', KEYS[1], ARGV[2])
	return -4
end
if redis.call('TYPE', KEYS[1]).ok ~= 'hash' then
	return -3
end
if left == -1 then -- the PEXPIRE of its owner was refused
	redis.call('PEXPIRE', KEYS[1], ARGV[2])
	left = tonumber(ARGV[2])
end
-- The client may send this command twice.
if redis.call('HEXISTS', KEYS[1], ARGV[1]) == 1 then
	return -4
end
return left
