-- Deals out the next units of a SKU's counter, or none.
--
-- KEYS[1] the counter   KEYS[2] buyers   KEYS[3] half messages
-- ARGV[1] quantity   ARGV[2] user   ARGV[3] database
-- ARGV[4] 1: the user has been here, and has no order
-- ARGV[5] 1: a half message of the sale is kept, too, under "run epoch unit"
--
-- {state, run, epoch, dealt, units}: 'taken' (the units up to dealt), 'short',
-- 'seen', 'missing', 'foreign' (it was set for another database).
local c = redis.call('HMGET', KEYS[1],
	'database', 'run', 'epoch', 'dealt', 'units')
if not c[5] then
	return {'missing', '0', '0', '0', '0'}
end
if c[1] ~= ARGV[3] then
	return {'foreign', '0', '0', '0', '0'}
end
local wanted, dealt = tonumber(ARGV[1]), tonumber(c[4])
if ARGV[4] ~= '1' and redis.call('SISMEMBER', KEYS[2], ARGV[2]) == 1 then
	return {'seen', c[2], c[3], c[4], c[5]}
end
if dealt + wanted > tonumber(c[5]) then
	return {'short', c[2], c[3], c[4], c[5]}
end
redis.call('SADD', KEYS[2], ARGV[2])
redis.call('HINCRBY', KEYS[1], 'dealt', wanted)
if ARGV[5] == '1' then
	local now = redis.call('TIME')
	redis.call('HSET', KEYS[3], c[2] .. ' ' .. c[3] .. ' ' .. (dealt + 1),
		now[1] .. string.sub('00000' .. now[2], -6, -4))
end
return {'taken', c[2], c[3], tostring(dealt + wanted), c[5]}
