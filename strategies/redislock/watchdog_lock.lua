-- Takes a lock, or takes it once more.
-- KEYS[1]  the lock: a hash of its owner and how many times they hold it
-- ARGV[1]  the owner who asks
-- ARGV[2]  the lease in milliseconds
-- ARGV[3]  how many times they hold it with this one
-- Answers -4 if they hold it now. Otherwise how long the other's lease has to
-- live, in milliseconds; -3 if the key is no hash, and so no one publishes when
-- it goes.
local left = redis.call('PTTL', KEYS[1])
if left == -2 then -- there is no such key
	redis.call('HSET', KEYS[1], ARGV[1], ARGV[3])
	redis.call('PEXPIRE', KEYS[1], ARGV[2])
	return -4
end
if redis.call('TYPE', KEYS[1]).ok ~= 'hash' then
	return -3
end
if left == -1 then -- PEXPIRE was refused to who took it
	redis.call('PEXPIRE', KEYS[1], ARGV[2])
	left = tonumber(ARGV[2])
end
if redis.call('HEXISTS', KEYS[1], ARGV[1]) == 0 then
	return left
end
redis.call('HSET', KEYS[1], ARGV[1], ARGV[3])
if left < tonumber(ARGV[2]) then
	redis.call('PEXPIRE', KEYS[1], ARGV[2])
end
return -4
