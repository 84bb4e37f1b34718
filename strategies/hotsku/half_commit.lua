-- Turns a half message into a message for the consumers, once.
--
-- KEYS[1] half messages   KEYS[2] messages   ARGV[1] its id
--
-- 0: it has been answered for before, and is gone.
if redis.call('HDEL', KEYS[1], ARGV[1]) == 0 then
	return 0
end
redis.call('XADD', KEYS[2], '*', 'of', ARGV[1])
return 1
