-- Reads what is to be written next, and what became of requests.
--
-- KEYS[2] the sale   KEYS[3] requests   KEYS[5] the stream   KEYS[7] epoch
-- ARGV[1] database   ARGV[2] consumer   ARGV[3] entries, at most
-- ARGV[4] after so many ms the entries of another consumer are taken over
-- ARGV[5…] requests
--
-- {run, epoch, entries, states, fresh}; run is '' if there is no stream of this
-- database's; fresh is 1 if nobody has read the entries before
local sale = redis.call('GET', KEYS[2]) or ''
if string.sub(sale, 1, #ARGV[1] + 1) ~= ARGV[1] .. ' '
	or redis.call('EXISTS', KEYS[5]) == 0 then
	return {'', 0, {}, {}, 0}
end
local epoch = tonumber(redis.call('GET', KEYS[7]) or '0')

-- First what this process has read and not written: someone led, and left.
-- XREADGROUP would begin the entries' idle time anew, and a process that cannot
-- write would keep them for ever.
local entries, fresh = {}, 0
for _, pending in ipairs(redis.call('XPENDING', KEYS[5], 'writers', '-', '+',
		ARGV[3], ARGV[2])) do
	local entry = redis.call('XRANGE', KEYS[5], pending[1], pending[1])[1]
	entries[#entries + 1] = entry
	if not entry then -- it is settled, and its XACK was refused
		redis.call('XACK', KEYS[5], 'writers', pending[1])
	end
end
if #entries == 0 then
	if #redis.call('XPENDING', KEYS[5], 'writers', 'IDLE', ARGV[4],
			'-', '+', 1) > 0 then
		-- Who had them may be asleep, and must not write. That comes first.
		epoch = redis.call('INCR', KEYS[7])
		entries = redis.call('XAUTOCLAIM', KEYS[5], 'writers', ARGV[2],
			ARGV[4], '0-0', 'COUNT', ARGV[3])[2]
	end
	if #entries == 0 then
		local new = redis.call('XREADGROUP', 'GROUP', 'writers', ARGV[2],
			'COUNT', ARGV[3], 'STREAMS', KEYS[5], '>')
		entries, fresh = new and new[1] and new[1][2] or {}, 1
	end
end

local states = {}
for i = 5, #ARGV do
	states[i - 4] = redis.call('HGET', KEYS[3], ARGV[i]) or ''
end
return {string.sub(sale, #ARGV[1] + 2), epoch, entries, states,
	fresh}
