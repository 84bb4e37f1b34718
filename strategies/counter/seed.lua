-- Sets a SKU's number for a new sale and forgets the old sale's buyers.
--
-- KEYS[1] the number            KEYS[4] buyers whose purchase is open
-- KEYS[2] the run it is set for KEYS[5] a mark of the last seeding
-- KEYS[3] buyers
-- ARGV[1] stock   ARGV[2] run   ARGV[3] how long the mark lives, in ms
-- ARGV[4] 1: only if there is no number
--
-- Every strategy of the family seeds, one after the other, and so does every
-- process that resets: the first wins, or the second would overwrite what has
-- been sold since. The mark does not live long: another database that uses this
-- Redis counts runs of its own.
local number = tonumber(redis.call('GET', KEYS[1]) or '')
local run = redis.call('GET', KEYS[2])
local mark = ARGV[2] .. ' ' .. ARGV[1]
if number and run then
	if ARGV[4] == '1' then
		return 0
	end
	if run == ARGV[2] and redis.call('GET', KEYS[5]) == mark then
		return 0
	end
end
redis.call('DEL', KEYS[3], KEYS[4])
redis.call('SET', KEYS[1], ARGV[1])
redis.call('SET', KEYS[2], ARGV[2])
redis.call('SET', KEYS[5], mark, 'PX', ARGV[3])
return 1
