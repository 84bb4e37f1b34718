-- Marks a purchase as open again: its order is about to be cancelled.
--
-- KEYS[1] its run   KEYS[2] buyers   KEYS[3] open
-- ARGV[1] run   ARGV[2] user   ARGV[3] "quantity request"   ARGV[4] now, in ms
if redis.call('GET', KEYS[1]) ~= ARGV[1]
	or redis.call('HGET', KEYS[2], ARGV[2]) ~= ARGV[3] then
	return 0
end
redis.call('ZADD', KEYS[3], ARGV[4], ARGV[2])
return 1
