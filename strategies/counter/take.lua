-- Lets a buyer through to MySQL, or turns them away.
--
-- key      what it can hold                                   written by
-- KEYS[1]  the number of units left                           seed, take,
--                                                             settle
-- KEYS[2]  the sale of the number, "database run"             seed
-- KEYS[3]  buyers, a hash with the fields
--   user           "quantity request": what they have taken   take, settle
--   user request   "quantity request": it is cancelled, and   open
--                    Redis had forgotten it under the user
--                  "back quantity request": its units went    settle
--                    back before its COMMIT came
--                  "done": cancelled, and its units are back  settle
--                  "": there is no note                       undo
--   back           "yes": there was a note "back"             settle
-- KEYS[4]  open: fields of KEYS[3] that MySQL has not         take, open,
--          decided, by their time                             settle
--
-- ARGV[1] quantity   ARGV[2] user   ARGV[3] request   ARGV[4] now, in ms
-- ARGV[5] database
--
-- {'taken', left, run, buyers}, or {'missing'}, {'foreign'} (another
-- database's), {'seen'}, {'sold out'}, or {'undecided'}: it depends on
-- purchases that are still open.
local sale = redis.call('GET', KEYS[2])
local num = tonumber(redis.call('GET', KEYS[1]) or '')
if not sale or not num then
	return {'missing'}
end
if string.sub(sale, 1, #ARGV[5] + 1) ~= ARGV[5] .. ' ' then
	return {'foreign'}
end
local wanted = tonumber(ARGV[1])

if redis.call('HEXISTS', KEYS[3], ARGV[2]) == 1 then
	if redis.call('ZSCORE', KEYS[4], ARGV[2]) then
		return {'undecided'}
	end
	return {'seen'}
end

if num < wanted then
	for _, who in ipairs(redis.call('ZRANGE', KEYS[4], 0, -1)) do
		local open = redis.call('HGET', KEYS[3], who) or ''
		num = num + tonumber(string.match(open, '^%d+') or 0)
	end
	if num < wanted then
		return {'sold out'}
	end
	return {'undecided'}
end

write({'ZREM', KEYS[4], ARGV[2]}, 'ZADD', KEYS[4], ARGV[4], ARGV[2])
local left = write({'DECRBY', KEYS[1], -wanted}, 'DECRBY', KEYS[1], wanted)
write(nil, 'HSET', KEYS[3], ARGV[2], ARGV[1] .. ' ' .. ARGV[3])
return refused or {'taken', left, string.sub(sale, #ARGV[5] + 2),
	redis.call('HLEN', KEYS[3])}
