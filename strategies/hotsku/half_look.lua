-- Reads half messages without an answer, and what is not consumed, in one view.
--
-- KEYS[1] half messages   KEYS[2] messages
-- ARGV[1] half messages of at least this age in ms   ARGV[2] messages, at most
--
-- {ids, messages}
local now = redis.call('TIME')
now = tonumber(now[1]) * 1000 + math.floor(tonumber(now[2]) / 1000)
local ids, all = {}, redis.call('HGETALL', KEYS[1])
for i = 1, #all, 2 do
	if now - tonumber(all[i + 1]) >= tonumber(ARGV[1]) then
		table.insert(ids, all[i])
	end
end
return {ids, redis.call('XRANGE', KEYS[2], '-', '+', 'COUNT', ARGV[2])}
