-- Accepts the cancellation of an order.
--
-- KEYS[1] the number   KEYS[2] its sale   KEYS[3] requests   KEYS[4] buyers
-- KEYS[5] the stream   KEYS[6] open units
-- ARGV[1] database   ARGV[2] run   ARGV[3] user   ARGV[4] request
-- ARGV[5] quantity   ARGV[6] order
-- ARGV[7] 1 if the ledger still has it as active
--
-- 'open', 'done', 'missing' (there is no number), 'over' (another sale's).
local sale = redis.call('GET', KEYS[2])
if not sale or redis.call('EXISTS', KEYS[1], KEYS[5]) < 2 then
	return 'missing'
end
if sale ~= ARGV[1] .. ' ' .. ARGV[2] then
	return 'over'
end
local me = 'cancel ' .. ARGV[6]
local known = redis.call('HGET', KEYS[3], me)
if known and known ~= '' then
	return known
end
if ARGV[7] ~= '1' then
	return 'done'
end
write({'HSET', KEYS[3], me, ''}, 'HSET', KEYS[3], me, 'open')
write({'INCRBY', KEYS[6], -ARGV[5]}, 'INCRBY', KEYS[6], ARGV[5])
write(nil, 'XADD', KEYS[5], '*', 'kind', 'cancel', 'user', ARGV[3],
	'request', ARGV[4], 'quantity', ARGV[5], 'order', ARGV[6],
	'run', ARGV[2])
return refused or 'open'
