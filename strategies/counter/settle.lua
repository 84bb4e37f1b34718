-- Closes a purchase with what MySQL has decided.
--
-- KEYS[1] the number   KEYS[2] its run   KEYS[3] buyers   KEYS[4] open
-- ARGV[1] run, '' for any   ARGV[2] user   ARGV[3] quantity
-- ARGV[4] request           ARGV[5] what is known of it:
--   'sold'    its order is in the ledger
--   'void'    it has no order and never will, or its order is cancelled
--   'absent'  it has no order now; its COMMIT may still be on its way
--
-- Only what this very request holds is touched, so every call may be repeated.
local run = redis.call('GET', KEYS[2])
if not run or ARGV[1] ~= '' and run ~= ARGV[1] then
	return 0 -- another sale: it knows nothing of this purchase
end
local user, quantity = ARGV[2], tonumber(ARGV[3])
local mine = ARGV[3] .. ' ' .. ARGV[4]
local held = redis.call('HGET', KEYS[3], user)

if held == mine and ARGV[5] == 'absent'
	and not redis.call('ZSCORE', KEYS[4], user) then
	return 0 -- looked up too early: its COMMIT came, and closed it
end
if held == mine then
	if ARGV[5] ~= 'sold' then
		redis.call('INCRBY', KEYS[1], quantity)
		redis.call('HDEL', KEYS[3], user)
		if ARGV[5] == 'absent' then -- remember, should it come after all
			redis.call('HSET', KEYS[3], user, 'back ' .. mine)
		end
	end
	redis.call('ZREM', KEYS[4], user)
	return 1
end
if held == 'back ' .. mine then
	if ARGV[5] == 'sold' then -- it did come after all: take again
		redis.call('DECRBY', KEYS[1], quantity)
		redis.call('HSET', KEYS[3], user, mine)
	elseif ARGV[5] == 'void' then
		redis.call('HDEL', KEYS[3], user)
	end
	return 1
end
return 0
