-- Closes entries with what the database has decided.
--
-- KEYS[1] the number   KEYS[2] its sale   KEYS[3] requests   KEYS[4] buyers
-- KEYS[5] the stream   KEYS[6] open units
-- ARGV[1] database   ARGV[2] run, and then of each entry:
--   its id, kind, user, request, quantity, order, and the verdict:
--   'sold …', 'refused …', 'done' (a cancellation), 'over' (it was sent in
--   an earlier sale, and came late)
--
-- XACK answers 1 once for each entry, so every call may be repeated.
if redis.call('GET', KEYS[2]) ~= ARGV[1] .. ' ' .. ARGV[2] then
	return 0 -- another sale: it knows nothing of these
end
local closed = 0
for i = 3, #ARGV, 7 do
	local id, kind, user, request, quantity, order, verdict =
		ARGV[i], ARGV[i + 1], ARGV[i + 2], ARGV[i + 3], ARGV[i + 4],
		ARGV[i + 5], ARGV[i + 6]
	local first = redis.call('XACK', KEYS[5], 'writers', id) == 1
	if first then
		closed = closed + 1
		redis.call('XDEL', KEYS[5], id)
	end
	if first and verdict ~= 'over' then
		redis.call('DECRBY', KEYS[6], quantity)
		local me = kind == 'buy' and user .. ' ' .. request or 'cancel ' .. order
		redis.call('HSET', KEYS[3], me, verdict)
		if verdict == 'done' or string.sub(verdict, 1, 7) == 'refused' then
			redis.call('INCRBY', KEYS[1], quantity)
			if redis.call('HGET', KEYS[4], user) == request then
				redis.call('HDEL', KEYS[4], user)
			end
		end
	end
end
return closed
