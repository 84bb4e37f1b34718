-- Prepended to scripts that write more than once: write runs a command. Redis
-- undoes nothing when it refuses a later command of a script, because the user
-- lost a right or a key has another type. So write then undoes what came before,
-- by the opposite of each command, and runs nothing more. The script returns
-- refused, which is the error, or nil.
local undo, refused = {}, nil
local function write(opposite, ...)
	local answer = not refused and redis.pcall(...)
	if type(answer) == 'table' and answer.err then
		refused = answer
		for i = #undo, 1, -1 do
			redis.call(unpack(undo[i]))
		end
	elseif opposite then
		table.insert(undo, opposite)
	end
	return answer
end

