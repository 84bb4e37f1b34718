-- Closes a purchase with what MySQL has decided.
--
-- KEYS[1] the number   KEYS[2] its sale   KEYS[3] buyers   KEYS[4] open
-- ARGV[1] sale, "database run"; "database " for any of it
-- ARGV[2] user   ARGV[3] quantity   ARGV[4] request
-- ARGV[5] what is known of it:
--   'sold'       its order is in the ledger
--   'void'       it has no order and never will
--   'absent'     it has no order now; its COMMIT may still be on its way
--   'cancelled'  its order is cancelled
--   'returned'   the same, and it was the caller who cancelled it
--
-- Only what this very request holds is touched, so every call may be repeated.
local sale = redis.call('GET', KEYS[2])
local any = string.sub(ARGV[1], -1) == ' '
if not sale or sale ~= ARGV[1]
	and not (any and string.sub(sale, 1, #ARGV[1]) == ARGV[1]) then
	return 0 -- another sale: it knows nothing of this purchase
end
local user, quantity, known = ARGV[2], tonumber(ARGV[3]), ARGV[5]
local mine = ARGV[3] .. ' ' .. ARGV[4]
local own = user .. ' ' .. ARGV[4] -- see open.lua
local held = redis.call('HGET', KEYS[3], user)
local kept = redis.call('HGET', KEYS[3], own)

if known == 'cancelled' or known == 'returned' then
	if kept == 'done' then
		return 0
	end
	if kept == mine then
		redis.call('INCRBY', KEYS[1], quantity)
	elseif held == mine then
		redis.call('INCRBY', KEYS[1], quantity)
		redis.call('HDEL', KEYS[3], user)
		redis.call('ZREM', KEYS[4], user)
	elseif kept == 'back ' .. mine then
		-- they are back already
	elseif known == 'returned' then -- Redis forgot it since it was marked
		redis.call('INCRBY', KEYS[1], quantity)
	else
		return 0
	end
	redis.call('ZREM', KEYS[4], own)
	redis.call('HSET', KEYS[3], own, 'done')
	return 1
end

if held == mine and known == 'absent'
	and not redis.call('ZSCORE', KEYS[4], user) then
	return 0 -- looked up too early: its COMMIT came, and closed it
end
if held == mine then
	if known ~= 'sold' then
		redis.call('INCRBY', KEYS[1], quantity)
		redis.call('HDEL', KEYS[3], user)
		if known == 'absent' then -- remember, should it come after all
			redis.call('HSET', KEYS[3], own, 'back ' .. mine)
		end
	end
	redis.call('ZREM', KEYS[4], user)
	return 1
end
if kept == 'back ' .. mine then
	if known == 'sold' then -- it did come after all: take again
		redis.call('DECRBY', KEYS[1], quantity)
		redis.call('HDEL', KEYS[3], own)
		redis.call('HSETNX', KEYS[3], user, mine) -- or they are at another
	end
	return 1
end
if kept == mine then -- it was not cancelled after all
	redis.call('HDEL', KEYS[3], own)
	redis.call('ZREM', KEYS[4], own)
	return 1
end
return 0
