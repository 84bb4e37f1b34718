-- Sets a SKU's number for a new sale and forgets the old sale's buyers.
--
-- KEYS[1] the number              KEYS[4] buyers whose purchase is open
-- KEYS[2] the sale it is set for  KEYS[5] the newest run of each database
-- KEYS[3] buyers
-- ARGV[1] stock   ARGV[2] database   ARGV[3] run
-- ARGV[4] 1: only if there is no number
--
-- 1 if it is set, 0 if it had been; -1 if a newer run had been.
--
-- Every strategy of the family seeds, and so does every process that resets,
-- however late: a run is set once, or the second to come would overwrite what
-- has been sold since. Another database counts runs of its own.
local run = tonumber(ARGV[3])
local newest = tonumber(redis.call('HGET', KEYS[5], ARGV[2]) or '')
if newest and newest > run then
	return -1
end
if ARGV[4] == '1' then -- Redis may have lost the number of a run it knows
	if tonumber(redis.call('GET', KEYS[1]) or '')
		and redis.call('GET', KEYS[2]) then
		return 0
	end
elseif newest == run then
	return 0
end
-- Nothing is sold without a sale. It comes last, so that a script that fails
-- before leaves none, and the next call sets everything.
redis.call('DEL', KEYS[2], KEYS[3], KEYS[4])
redis.call('SET', KEYS[1], ARGV[1])
redis.call('HSET', KEYS[5], ARGV[2], ARGV[3])
redis.call('SET', KEYS[2], ARGV[2] .. ' ' .. ARGV[3])
return 1
