-- Reads a SKU's number and the entries that are not settled, in one view.
--
-- KEYS[1] the number   KEYS[2] its sale   KEYS[5] the stream
-- ARGV[1] database
--
-- {number, run, entries}; '' for what is missing, or another database's.
local sale = redis.call('GET', KEYS[2]) or ''
if string.sub(sale, 1, #ARGV[1] + 1) ~= ARGV[1] .. ' ' then
	return {'', '', {}}
end
return {redis.call('GET', KEYS[1]) or '', string.sub(sale, #ARGV[1] + 2),
	redis.call('XRANGE', KEYS[5], '-', '+')}
