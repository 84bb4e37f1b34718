-- Closes a purchase with what MySQL has decided.
--
-- KEYS[1] the number   KEYS[2] its sale   KEYS[3] buyers   KEYS[4] open
-- ARGV[1] sale, "database run"; "database " for any of it
-- ARGV[2] user   ARGV[3] quantity   ARGV[4] request
-- ARGV[5] what is known of it:
--   'sold'       its order is in the ledger
--   'again'      the same, and it was there when the caller had taken units
--   'void'       it has no order and never will
--   'absent'     it has no order now; its COMMIT may still be on its way
--   'cancelled'  its order is cancelled
--   'returned'   the same, and it was the caller who cancelled it
-- ARGV[6] with 'void', if the row refused it: how many units the row has
-- ARGV[7], ARGV[8] left and buyers, as take.lua answered
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
local function add(units)
	write({'INCRBY', KEYS[1], -units}, 'INCRBY', KEYS[1], units)
end
local function note(text)
	write({'HSET', KEYS[3], own, kept or ''}, 'HSET', KEYS[3], own, text)
end
local function forget(who)
	write({'HSET', KEYS[3], who, mine}, 'HDEL', KEYS[3], who)
	write(nil, 'ZREM', KEYS[4], who)
end

if known == 'cancelled' or known == 'returned' then
	local units = quantity
	if kept == 'done' then
		if held == mine then -- its request was sent again, and not decided
			add(quantity)
			forget(user)
		end
		return refused or 0
	elseif kept == mine or held == mine then
		-- they are taken
	elseif kept == 'back ' .. mine then
		units = 0 -- they are back already
	elseif known ~= 'returned' then -- else Redis forgot it since it was marked
		return 0
	end
	note('done')
	add(units)
	if kept ~= mine and held == mine then
		forget(user)
	end
	write(nil, 'ZREM', KEYS[4], own)
	return refused or 1
end

if held == mine and known == 'absent'
	and not redis.call('ZSCORE', KEYS[4], user) then
	return 0 -- looked up too early: its COMMIT came, and closed it
end
if held == mine and known == 'again' and kept ~= 'back ' .. mine then
	-- Redis had lost the purchase that sold. The row may have lacked these units
	-- when the number was made from it: where it did not, the number is too high
	-- now, and a refusal by the row corrects it.
	add(quantity)
end
if held == mine and (known == 'sold' or known == 'again') then
	write(nil, 'ZREM', KEYS[4], user)
	return refused or 1
end
if held == mine then
	if known == 'absent' then -- remember, should it come after all
		note('back ' .. mine)
		write(nil, 'HSET', KEYS[3], 'back', 'yes')
	elseif ARGV[6] and redis.call('HEXISTS', KEYS[3], 'back') == 0 then
		-- The number is too high, as Redis has lost data: it allowed what the row
		-- has not. Only what the row has goes back, so that refusals lower it. It
		-- becomes the row's if nothing is open and nothing came between: a sale
		-- adds a buyer, a cancellation changes the number without. (Where units
		-- went back too early they are what the row has not, and taken again.)
		quantity = tonumber(ARGV[6])
		if redis.call('ZCARD', KEYS[4]) == 1
			and redis.call('GET', KEYS[1]) == ARGV[7]
			and redis.call('HLEN', KEYS[3]) == tonumber(ARGV[8]) then
			quantity = quantity - tonumber(ARGV[7])
		end
	end
	add(quantity)
	forget(user)
	return refused or 1
end
if kept == 'back ' .. mine then
	if known == 'sold' or known == 'again' then -- it did come after all: take again
		add(-quantity)
		write({'HSET', KEYS[3], own, kept}, 'HDEL', KEYS[3], own)
		write(nil, 'HSETNX', KEYS[3], user, mine) -- or they are at another
	end
	return refused or 1
end
if kept == mine then -- it was not cancelled after all
	forget(own)
	return refused or 1
end
return 0
