-- Reads a SKU's number and the entries that are not settled, in one view.
--
-- KEYS[1] the number   KEYS[2] its sale   KEYS[3] the stream
--
-- {number, sale, entries}; number and sale are '' if they are missing.
return {redis.call('GET', KEYS[1]) or '', redis.call('GET', KEYS[2]) or '',
	redis.call('XRANGE', KEYS[3], '-', '+')}
