-- Sets a SKU's stream for a new sale and forgets the old sale.
--
-- KEYS[1] the number   KEYS[2] its sale, "database run"   KEYS[3] requests
-- KEYS[4] buyers   KEYS[5] the stream   KEYS[6] open units   KEYS[7] epoch
-- KEYS[8] the newest run of each database
-- ARGV[1] stock   ARGV[2] database   ARGV[3] run
-- ARGV[4] 1: only if there is no number
--
-- 1 if it is set, 0 if it had been; -1 if a newer run had been.
--
-- Every process that resets comes here, however late: a run is set once, or
-- the second to come would forget what the first sale has accepted.
local run = tonumber(ARGV[3])
local newest = tonumber(redis.call('HGET', KEYS[8], ARGV[2]) or '')
if newest and newest > run then
	return -1
end
if ARGV[4] == '1' then
	if redis.call('EXISTS', KEYS[1], KEYS[2], KEYS[5]) == 3 then
		return 0
	end
elseif newest == run then
	return 0
end
redis.call('DEL', KEYS[3], KEYS[4], KEYS[5], KEYS[6], KEYS[7])
redis.call('SET', KEYS[1], ARGV[1])
redis.call('SET', KEYS[2], ARGV[2] .. ' ' .. ARGV[3])
redis.call('HSET', KEYS[8], ARGV[2], ARGV[3])
redis.call('XGROUP', 'CREATE', KEYS[5], 'writers', '0', 'MKSTREAM')
return 1
