-- Gives units back to the sale that they were taken from.
--
-- KEYS[1] the number   KEYS[2] its run
-- ARGV[1] quantity     ARGV[2] the run they were taken in; '' if there was none
local run = redis.call('GET', KEYS[2]) or ''
if run ~= ARGV[2] then
	return 0 -- reset meanwhile: the new number never lacked these units
end
if run == '' then
	redis.call('DEL', KEYS[1]) -- DECRBY made it: there was no number
	return 0
end
redis.call('INCRBY', KEYS[1], ARGV[1])
return 1
