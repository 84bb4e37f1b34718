-- Closes entries with what the database has decided.
--
-- KEYS[1] the number   KEYS[2] its sale   KEYS[3] requests   KEYS[4] buyers
-- KEYS[5] the stream   KEYS[6] open units
-- ARGV[1] database   ARGV[2] run, and then of each entry:
--   its id, kind, user, request, quantity, order, and the verdict:
--   'sold …', 'refused …', 'done' (a cancellation), 'over' (it was sent in
--   an earlier sale, and came late)
--
-- An entry that is settled is deleted, so every call may be repeated.
if redis.call('GET', KEYS[2]) ~= ARGV[1] .. ' ' .. ARGV[2] then
	return 0 -- another sale: it knows nothing of these
end
local closed = 0
for i = 3, #ARGV, 7 do
	local id, kind, user, request, quantity, order, verdict =
		ARGV[i], ARGV[i + 1], ARGV[i + 2], ARGV[i + 3], ARGV[i + 4],
		ARGV[i + 5], ARGV[i + 6]
	local first = redis.call('XRANGE', KEYS[5], id, id)[1]
	if first and verdict ~= 'over' then
		local me, was = user .. ' ' .. request, 'open ' .. quantity
		if kind ~= 'buy' then
			me, was = 'cancel ' .. order, 'open'
		end
		write({'HSET', KEYS[3], me, was}, 'HSET', KEYS[3], me, verdict)
		write({'DECRBY', KEYS[6], -quantity}, 'DECRBY', KEYS[6], quantity)
		if verdict == 'done' or string.sub(verdict, 1, 7) == 'refused' then
			write({'INCRBY', KEYS[1], -quantity}, 'INCRBY', KEYS[1], quantity)
			if redis.call('HGET', KEYS[4], user) == request then
				write({'HSET', KEYS[4], user, request}, 'HDEL', KEYS[4], user)
			end
		end
	end
	if first then
		write(nil, 'XDEL', KEYS[5], id)
		if refused then
			return refused
		end
		undo, closed = {}, closed + 1
	end
	redis.call('XACK', KEYS[5], 'writers', id)
end
return closed
