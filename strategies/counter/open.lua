-- Marks an order as about to be cancelled: its units are open again.
--
-- KEYS[1] the number   KEYS[2] its sale   KEYS[3] buyers   KEYS[4] open
-- ARGV[1] sale       ARGV[2] user
-- ARGV[3] quantity   ARGV[4] request   ARGV[5] now, in ms
--
-- 'marked', 'missing' (there is no number), or 'over' (another sale's).
local sale = redis.call('GET', KEYS[2])
if not sale or not tonumber(redis.call('GET', KEYS[1]) or '') then
	return 'missing'
end
if sale ~= ARGV[1] then
	return 'over'
end
local mine = ARGV[3] .. ' ' .. ARGV[4]
local held = redis.call('HGET', KEYS[3], ARGV[2])
if held == mine then
	redis.call('ZADD', KEYS[4], ARGV[5], ARGV[2])
	return 'marked'
end

-- Redis does not know the order: it lost its data, and its number was made
-- from the row, where these units were missing. It is taken, then. The entry
-- is the order's own, as the buyer may be at another purchase. One that says
-- 'back' or 'done' stays: that order's units went back before.
local own = ARGV[2] .. ' ' .. ARGV[4]
local note = redis.call('HGET', KEYS[3], own) or ''
if note == '' then
	redis.call('HSET', KEYS[3], own, mine)
end
if note == '' or note == mine then
	redis.call('ZADD', KEYS[4], ARGV[5], own)
end
return 'marked'
