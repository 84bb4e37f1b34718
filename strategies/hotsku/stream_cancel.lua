-- Accepts the cancellation of an order.
--
-- KEYS[1] the number   KEYS[2] its sale   KEYS[3] requests   KEYS[4] buyers
-- KEYS[5] the stream   KEYS[6] open units
-- ARGV[1] sale   ARGV[2] user   ARGV[3] request   ARGV[4] quantity
-- ARGV[5] order   ARGV[6] 1 if the ledger still has it as active
-- ARGV[7] run
--
-- 'open', 'done', 'missing' (there is no number), 'over' (another sale's).
local sale = redis.call('GET', KEYS[2])
if not sale or redis.call('EXISTS', KEYS[1], KEYS[5]) < 2 then
	return 'missing'
end
if sale ~= ARGV[1] then
	return 'over'
end
local me = 'cancel ' .. ARGV[5]
local known = redis.call('HGET', KEYS[3], me)
if known then
	return known
end
if ARGV[6] ~= '1' then
	return 'done'
end
redis.call('INCRBY', KEYS[6], ARGV[4])
redis.call('HSET', KEYS[3], me, 'open')
redis.call('XADD', KEYS[5], '*', 'kind', 'cancel', 'user', ARGV[2],
	'request', ARGV[3], 'quantity', ARGV[4], 'order', ARGV[5],
	'run', ARGV[7])
return 'open'
