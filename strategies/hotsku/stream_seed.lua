-- Sets a SKU's stream for a sale, and forgets the one before.
--
-- KEYS[1] the number   KEYS[2] its sale, "database run"   KEYS[3] requests
-- KEYS[4] buyers   KEYS[5] the stream   KEYS[6] open units   KEYS[7] epoch
-- ARGV[1] database   ARGV[2] stock   ARGV[3] run
-- ARGV[4] the epoch that the row has seen
--
-- 1 if it is set, 0 if it had been; -1 if a newer run had been.
--
-- Every process that resets comes here, however late: a run is set once, or
-- the second to come would forget what the first sale has accepted.
local sale, run = redis.call('GET', KEYS[2]) or '', tonumber(ARGV[3])
if string.sub(sale, 1, #ARGV[1] + 1) == ARGV[1] .. ' ' then
	local set = tonumber(string.sub(sale, #ARGV[1] + 2))
	if set > run then
		return -1
	end
	if set == run and tonumber(redis.call('GET', KEYS[1]) or '')
		and redis.call('EXISTS', KEYS[5]) == 1 then
		if tonumber(redis.call('GET', KEYS[7]) or '0') < tonumber(ARGV[4]) then
			redis.call('SET', KEYS[7], ARGV[4]) -- Redis had lost a takeover
		end
		return 0
	end
end
redis.call('DEL', KEYS[3], KEYS[4], KEYS[5], KEYS[6])
redis.call('SET', KEYS[1], ARGV[2])
redis.call('SET', KEYS[2], ARGV[1] .. ' ' .. ARGV[3])
redis.call('SET', KEYS[7], ARGV[4])
redis.call('XGROUP', 'CREATE', KEYS[5], 'writers', '0', 'MKSTREAM')
return 1
