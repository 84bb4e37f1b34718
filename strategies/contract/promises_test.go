package contract

// A Promise is a property that the suite tests in a lock.
type Promise string

const (
	Exclusion    Promise = "one holder at a time"
	Overtaking   Promise = "overtaken before a command"
	WaitLimit    Promise = "wait limits"
	Leaving      Promise = "the buyer leaves"
	GivingUp     Promise = "a waiter gives up"
	Queue        Promise = "first come first served"
	ReleaseOnce  Promise = "released once"
	Owner        Promise = "the lock is lost before or during its release"
	OtherKeys    Promise = "other keys"
	Fence        Promise = "fencing tokens"
	LeaseEnd     Promise = "a lease ends"
	LateRelease  Promise = "released after its lease"
	Outlasting   Promise = "held for longer than a session"
	Death        Promise = "a holder dies"
	LostReply    Promise = "a reply is lost"
	LostRelease  Promise = "a release is lost"
	ForeignLock  Promise = "foreign clients"
	Renewal      Promise = "renewed"
	RenewalLost  Promise = "lost while renewed"
	RenewalFails Promise = "a renewal fails"
	MaxHold      Promise = "renewal has a limit"
	Reentry      Promise = "acquired again by its holder"
	Clear        Promise = "cleared by force"
	Outage       Promise = "the backend is away"
	HolderCutOff Promise = "the holder is cut off"
)

type question struct {
	promise   Promise
	unguarded bool // true if the promise also makes sense for a lock that does not exclude
	applies   func(*Harness) bool
	ask       func(*trial)
}

func always(*Harness) bool            { return true }
func remote(h *Harness) bool          { return h.Lease > 0 || h.End != nil }
func needs(c Can) func(*Harness) bool { return func(h *Harness) bool { return h.can(c) } }

var questions = []question{
	{Exclusion, true, always, exclusion},
	{Overtaking, false, remote, overtaking},
	{WaitLimit, false, always, waitLimit},
	{Leaving, false, always, leaving},
	{GivingUp, false, always, givingUp},
	{Queue, false, needs(Queues), queue},
	{ReleaseOnce, false, always, releaseOnce},
	{Owner, false, remote, owner},
	{OtherKeys, true, always, otherKeys},
	{Fence, false, always, fence},
	{LeaseEnd, false, needs(Expires), leaseEnd},
	{LateRelease, false, needs(Expires), lateRelease},
	{Outlasting, false, func(h *Harness) bool { return h.can(Tells) && !h.can(Expires) }, outlasting},
	{Death, false, remote, death},
	{LostReply, false, remote, lostReply},
	{LostRelease, false, func(h *Harness) bool { return h.can(Undoes) && !h.can(Bound) }, lostRelease},
	{ForeignLock, false, func(h *Harness) bool { return len(h.Foreign) > 0 }, foreign},
	{Renewal, false, needs(Renews), renewal},
	{RenewalLost, false, needs(Renews), renewalLost},
	{RenewalFails, false, needs(Renews), renewalFails},
	{MaxHold, false, needs(Limits), maxHold},
	{Reentry, false, needs(Reenters), reentry},
	{Clear, false, needs(Clears), clearing},
	{Outage, false, func(h *Harness) bool { return h.Wire != nil }, outage},
	{HolderCutOff, false, func(h *Harness) bool { return h.Wire != nil && h.can(Tells) }, holderCutOff},
}
