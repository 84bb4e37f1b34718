-- Gives units back to the sale that they were taken from.
--
-- KEYS[1] the number   KEYS[2] its sale
-- ARGV[1] quantity     ARGV[2] the sale they were taken in; '' if none
--
-- Not to be repeated: a reply that was lost does not tell whether it ran.
local sale = redis.call('GET', KEYS[2]) or ''
if sale ~= ARGV[2] then
	return 0 -- reset meanwhile: the new number never lacked these units
end
if sale == '' then
	redis.call('DEL', KEYS[1]) -- DECRBY made it: there was none
	return 0
end
redis.call('INCRBY', KEYS[1], ARGV[1])
return 1
