-- Keeps a half message, before the transaction that it is about.
--
-- KEYS[1] half messages   ARGV[1] its id, "run epoch unit"
local now = redis.call('TIME')
return redis.call('HSET', KEYS[1], ARGV[1],
	now[1] .. string.sub('00000' .. now[2], -6, -4))
