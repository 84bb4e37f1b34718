-- Gives units back to the sale that they were taken from, once.
--
-- KEYS[1] the number   KEYS[2] its sale
-- KEYS[3] taken: who took how much, and whose order was cancelled
-- ARGV[1] quantity     ARGV[2] the sale they were taken in; '' if none
-- ARGV[3] who took, or the order
-- ARGV[4] 'taken': refused; 'ordered': its order is cancelled
--
-- May be repeated: a reply that was lost does not tell whether it ran.
local sale = redis.call('GET', KEYS[2]) or ''
if sale ~= ARGV[2] then
	return 0 -- reset meanwhile: the new number never lacked these units
end
if sale == '' then
	redis.call('DEL', KEYS[1], KEYS[3]) -- DECRBY made it: there was none
	return 0
end
if ARGV[4] == 'taken' then
	if redis.call('HDEL', KEYS[3], ARGV[3]) == 0 then
		return 0
	end
elseif redis.call('HSETNX', KEYS[3], ARGV[3], 'back') == 0 then
	return 0
end
redis.call('INCRBY', KEYS[1], ARGV[1])
return 1
