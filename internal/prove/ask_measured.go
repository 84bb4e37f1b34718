package prove

// These are measured, in real time.
var (
	_ = addQuestion(Question{
		column: 50, ID: "hung-holder", Title: "hung holder",
		Asks: "A holder of the lock hangs for longer than a lease while its renewer, session and connections live: does the next get the lock?",
		ask:  (*bench).hungHolder,
	})
	_ = addQuestion(Question{
		column: 110, ID: "history", Title: "linearizable",
		Asks: "A load run over two processes: is there an order of the purchases, one at a time, that explains every answer?",
		ask:  (*bench).history,
	})
	_ = addQuestion(Question{
		column: 130, ID: "waits", Title: "how it waits",
		Asks: "What a buyer does while another holds the lock, and how many commands that costs in 300 ms.",
		ask:  (*bench).waits,
	})
	_ = addQuestion(Question{
		column: 140, ID: "order", Title: "first come first served",
		Asks: "Six buyers come one after another while a seventh holds the lock: do they get it in that order?",
		ask:  (*bench).order,
	})
	_ = addQuestion(Question{
		column: 150, ID: "reentrant", Title: "reentrant",
		Asks: "Does the holder get the lock again when it passes its lease's context on?",
		ask:  (*bench).reentrant,
	})
	_ = addQuestion(Question{
		column: 160, ID: NodeLossQuestion, Title: "loss of one node",
		Asks: "One server of the lock's backend is lost while the lock is held.",
		ask:  (*bench).nodeLoss,
	})
)
