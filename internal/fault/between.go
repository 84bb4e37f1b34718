package fault

// What may go wrong between two commands of a buyer. The explorer tries each of
// them at every moment; package explore says how it makes them happen.
const (
	// LeaseEnds: the holder of the lock loses it, as the server sees it: the key
	// expires, the session's nodes go, the lease is revoked, the connection is
	// killed. The holder has not heard of it: they were paused.
	LeaseEnds Name = "lease ends"
	// Dies: the buyer's process ends before its next command, and with it all other
	// buyers in it. No clean-up runs, its connections close.
	Dies Name = "dies"
	// Leaves: the buyer goes, or their time is up. Their process lives on.
	Leaves Name = "leaves"
	// GivenUp: the server ends the session or the lease of a process that has
	// died. It follows Dies at any later moment, and is no fault of its own.
	GivenUp Name = "given up by the server"
	// ReplyLost: the next command takes effect, the buyer sees an error.
	ReplyLost Name = "reply lost"
	// CommandLost: the next command never arrives, the buyer sees an error.
	CommandLost Name = "command lost"
	// Delayed: the next command stays in the network, the buyer sees an error
	// and goes on.
	Delayed Name = "delayed"
	// Arrives: a delayed command reaches its server. It follows Delayed at any
	// later moment, and is no fault of its own.
	Arrives Name = "arrives late"
	// ClockJumps: the clock of the buyer's process jumps ahead by more than a lease.
	ClockJumps Name = "clock jumps"
	// NodeLost: a server of several is lost, with what it has not replicated.
	NodeLost Name = "a node is lost"
	// TimePasses: no buyer could go on, so leases ended.
	TimePasses Name = "time passes"
)
