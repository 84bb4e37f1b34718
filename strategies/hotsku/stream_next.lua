-- Reads what is to be written next, and what became of some requests.
--
-- KEYS[1] the stream   KEYS[2] its sale   KEYS[3] requests   KEYS[4] epoch
-- ARGV[1] consumer   ARGV[2] entries, at most
-- ARGV[3] after so many ms the entries of another consumer are taken over
-- ARGV[4] the epoch is this, at least   ARGV[5] database   ARGV[6…] requests
--
-- {sale, epoch, entries, states}; of another database's stream the sale alone
local sale = redis.call('GET', KEYS[2])
if not sale or redis.call('EXISTS', KEYS[1]) == 0 then
	return {'', 0, {}, {}}
end
if string.sub(sale, 1, #ARGV[5] + 1) ~= ARGV[5] .. ' ' then
	return {sale, 0, {}, {}}
end
local epoch = tonumber(redis.call('GET', KEYS[4]) or '0')
if epoch < tonumber(ARGV[4]) then
	epoch = tonumber(ARGV[4])
	redis.call('SET', KEYS[4], epoch)
end

-- First what this process has read and not written: someone led, and left.
-- XREADGROUP would begin the entries' idle time anew, and a process that cannot
-- write would keep them for ever.
local entries = {}
for _, pending in ipairs(redis.call('XPENDING', KEYS[1], 'writers', '-', '+',
		ARGV[2], ARGV[1])) do
	entries[#entries + 1] = redis.call('XRANGE', KEYS[1], pending[1], pending[1])[1]
end
if #entries == 0 then
	entries = redis.call('XAUTOCLAIM', KEYS[1], 'writers', ARGV[1], ARGV[3],
		'0-0', 'COUNT', ARGV[2])[2]
	if #entries > 0 then -- who had them may be asleep, and must not write
		epoch = redis.call('INCR', KEYS[4])
	else
		local new = redis.call('XREADGROUP', 'GROUP', 'writers', ARGV[1],
			'COUNT', ARGV[2], 'STREAMS', KEYS[1], '>')
		entries = new and new[1] and new[1][2] or {}
	end
end

local states = {}
for i = 6, #ARGV do
	states[i - 5] = redis.call('HGET', KEYS[3], ARGV[i]) or ''
end
return {sale, epoch, entries, states}
