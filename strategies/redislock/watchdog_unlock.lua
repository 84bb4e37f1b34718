-- Gives a lock back once, and tells a waiter when that was the last time.
-- KEYS[1]  the lock
-- KEYS[2]  the channel on which waiters listen
-- ARGV[1]  the owner
-- ARGV[2]  how often he still has it
-- Answers 1, or 0 if it was not his any more.
if redis.call('TYPE', KEYS[1]).ok ~= 'hash'
	or redis.call('HEXISTS', KEYS[1], ARGV[1]) == 0 then
	return 0
end
if tonumber(ARGV[2]) > 0 then
	redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])
	return 1
end
redis.call('DEL', KEYS[1])
redis.call('PUBLISH', KEYS[2], '0')
return 1
