-- Lets a buyer through to MySQL, or turns him away.
--
-- KEYS[1] the number   KEYS[2] its run
-- KEYS[3] buyers: what each has taken, "quantity request"
-- KEYS[4] open: buyers whose purchase MySQL has not decided, by their time
-- ARGV[1] quantity   ARGV[2] user   ARGV[3] request   ARGV[4] now, in ms
--
-- {'taken', left, run}, or {'missing'}, {'seen'}, {'sold out'}, or
-- {'undecided'}: it depends on purchases that are still open.
local run = redis.call('GET', KEYS[2])
local num = tonumber(redis.call('GET', KEYS[1]) or '')
if not run or not num then
	return {'missing'}
end
local wanted = tonumber(ARGV[1])

local held = redis.call('HGET', KEYS[3], ARGV[2])
if held and string.sub(held, 1, 4) ~= 'back' then
	if redis.call('ZSCORE', KEYS[4], ARGV[2]) then
		return {'undecided'}
	end
	return {'seen'}
end

if num < wanted then
	for _, user in ipairs(redis.call('ZRANGE', KEYS[4], 0, -1)) do
		local open = redis.call('HGET', KEYS[3], user) or ''
		num = num + tonumber(string.match(open, '^%d+') or 0)
	end
	if num < wanted then
		return {'sold out'}
	end
	return {'undecided'}
end

local left = redis.call('DECRBY', KEYS[1], ARGV[1])
redis.call('HSET', KEYS[3], ARGV[2], ARGV[1] .. ' ' .. ARGV[3])
redis.call('ZADD', KEYS[4], ARGV[4], ARGV[2])
return {'taken', left, run}
