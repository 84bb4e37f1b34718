-- Sets a SKU's counter for an epoch, once.
--
-- KEYS[1] the counter   KEYS[2] buyers   KEYS[3] half messages
-- KEYS[4] messages
-- ARGV[1] database   ARGV[2] run   ARGV[3] epoch   ARGV[4] units
-- ARGV[5] 1: a reset, which also replaces the counter of another database
--
-- 1 if it is set, 0 if it had been; -1 if a newer run had been; -2 if it is
-- another database's.
--
-- However late this comes, it never replaces a newer epoch. Should it come after
-- Redis has lost that one, it deals out units again that may be sold, and the
-- unique key of stock_details refuses them.
local c = redis.call('HMGET', KEYS[1], 'database', 'run', 'epoch')
local run, epoch = tonumber(ARGV[2]), tonumber(ARGV[3])
local ours = c[1] == ARGV[1]
if c[1] and not ours and ARGV[5] ~= '1' then
	return -2
end
if ours and tonumber(c[2]) > run then
	return -1
end
if ours and tonumber(c[2]) == run and tonumber(c[3]) >= epoch then
	return 0
end
if not ours or tonumber(c[2]) ~= run then
	redis.call('DEL', KEYS[2], KEYS[3], KEYS[4])
end
redis.call('HSET', KEYS[1], 'database', ARGV[1], 'run', ARGV[2],
	'epoch', ARGV[3], 'dealt', '0', 'units', ARGV[4])
return 1
