-- Accepts a purchase, or turns it away: all of it, or nothing.
-- redis-stream-two-calls has it take the units only, and appends the entry
-- by itself.
--
-- KEYS[1] the number   KEYS[2] its sale, "database run"
-- KEYS[3] requests: "user request" = what became of it; '' is nothing
-- KEYS[4] buyers
-- KEYS[5] the stream   KEYS[6] open units, accepted and not written
-- ARGV[1] database   ARGV[2] quantity   ARGV[3] user   ARGV[4] request
-- ARGV[5] strategy; without it no entry is appended
--
-- 'accepted', or 'accepted RUN' without an entry; or what became of the
-- request before ('open' with its quantity, 'sold …', 'refused …'); or why
-- not: 'missing', 'foreign' (another database's), 'seen', 'sold out',
-- 'undecided' (it depends on open units).
local sale = redis.call('GET', KEYS[2])
local num = tonumber(redis.call('GET', KEYS[1]) or '')
if not sale or not num or redis.call('EXISTS', KEYS[5]) == 0 then
	return 'missing'
end
if string.sub(sale, 1, #ARGV[1] + 1) ~= ARGV[1] .. ' ' then
	return 'foreign'
end
local me = ARGV[3] .. ' ' .. ARGV[4]
local known = redis.call('HGET', KEYS[3], me)
if known and known ~= '' and known ~= 'refused not_started' then
	return known
end
local other = redis.call('HGET', KEYS[4], ARGV[3])
if other then
	local state = redis.call('HGET', KEYS[3], ARGV[3] .. ' ' .. other)
	if state and string.sub(state, 1, 4) == 'open' then
		return 'undecided'
	elseif state ~= '' then
		return 'seen'
	end
end

local wanted = tonumber(ARGV[2])
if num < wanted then
	local open = tonumber(redis.call('GET', KEYS[6]) or '0')
	if num + open < wanted then
		return 'sold out'
	end
	return 'undecided'
end

write({'HSET', KEYS[3], me, ''}, 'HSET', KEYS[3], me, 'open ' .. ARGV[2])
write(nil, 'HSET', KEYS[4], ARGV[3], ARGV[4])
write({'DECRBY', KEYS[1], -wanted}, 'DECRBY', KEYS[1], wanted)
write({'INCRBY', KEYS[6], -wanted}, 'INCRBY', KEYS[6], wanted)
local run = string.sub(sale, #ARGV[1] + 2)
if not ARGV[5] then
	return refused or 'accepted ' .. run
end
write(nil, 'XADD', KEYS[5], '*', 'kind', 'buy', 'user', ARGV[3],
	'request', ARGV[4], 'quantity', ARGV[2], 'strategy', ARGV[5],
	'run', run)
return refused or 'accepted'
