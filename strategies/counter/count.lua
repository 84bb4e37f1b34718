-- Reads a SKU's number and the purchases that are open, in one view.
--
-- KEYS[1] the number   KEYS[2] its sale   KEYS[3] buyers   KEYS[4] open
-- ARGV[1] open since before this time in ms, or +inf   ARGV[2] how many at most
--
-- {number, sale, who, holding, who, holding …}; number and sale are '' if
-- they are missing. Who is "user" or "user request"; a holding is "quantity
-- request".
local found = {
	redis.call('GET', KEYS[1]) or '', redis.call('GET', KEYS[2]) or ''}
local open = redis.call('ZRANGEBYSCORE', KEYS[4], '-inf', ARGV[1],
	'LIMIT', 0, ARGV[2])
for _, who in ipairs(open) do
	local holding = redis.call('HGET', KEYS[3], who)
	if holding then
		table.insert(found, who)
		table.insert(found, holding)
	end
end
return found
