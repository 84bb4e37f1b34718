// Package gate turns buyers away in front of a strategy. A gate saves work and
// keeps order; it never sells, and those who pass still meet the strategy's own
// check of the stock. All that a gate knows is in the memory of its process.
package gate

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"seckill/internal/seckill"
)

// ErrRateLimited is the seckill.ErrBusy of those who ask too often: a user, or
// the buyers of a SKU.
var ErrRateLimited error = rateLimited{}

type rateLimited struct{}

func (rateLimited) Error() string { return "too many requests" }
func (rateLimited) Unwrap() error { return seckill.ErrBusy }

// A Refusal is what a gate answers. It wraps seckill.ErrSoldOut or
// seckill.ErrBusy: nothing was taken.
type Refusal struct {
	Gate       string
	Err        error
	Detail     string        // for the buyer
	RetryAfter time.Duration // 0: there is no such time
	Position   int64         // in the waiting room, from 1; 0: none
	// Since is from when on the stock was known to be too small; zero for
	// refusals that say nothing about the stock.
	Since time.Time
}

func (r *Refusal) Error() string { return r.Detail }
func (r *Refusal) Unwrap() error { return r.Err }

// A Request is a purchase as gates see it.
type Request struct {
	Strategy            string
	SKU, User, Quantity int64
}

// A Gate is safe for concurrent use.
type Gate interface {
	// Enter lets a purchase pass, or returns why not. ended, which may be nil, is
	// to be told what the strategy answered.
	Enter(r Request) (ended func(error), refusal *Refusal)
	// Refilled: units of the SKU may have come back. Reset: its sale was set anew.
	Refilled(sku int64)
	Reset(sku int64)
}

// Settings are the gates of a service, and its flags.
type Settings struct {
	Gates    []string `name:"gate" sep:"," env:"SECKILL_GATE" placeholder:"NAME" help:"Turn buyers away before the strategy: sold-out, waiting-room, rate, or several; sold-out-naive is wrong on purpose."`
	RoomRate float64  `name:"gate-room-rate" default:"${GateRoomRate}" env:"SECKILL_GATE_ROOM_RATE" help:"waiting-room: how many buyers of one SKU each process lets in a second."`
	UserRate float64  `name:"gate-user-rate" default:"${GateUserRate}" env:"SECKILL_GATE_USER_RATE" help:"rate: purchases of one user that each process lets pass a second; 0: any number."`
	SKURate  float64  `name:"gate-sku-rate" default:"${GateSKURate}" env:"SECKILL_GATE_SKU_RATE" help:"rate: purchases of one SKU that each process lets pass a second; 0: any number."`
}

// DefaultSettings have no gate.
func DefaultSettings() Settings { return Settings{RoomRate: 100, UserRate: 5, SKURate: 5000} }

// kinds in the order in which a purchase meets them: who asks too often costs
// nothing more, and no one stands in line for what is sold out.
var kinds = []struct {
	name string
	open func(Settings) Gate
}{
	{"rate", func(s Settings) Gate { return newRates(s.UserRate, s.SKURate) }},
	{SoldOut, func(Settings) Gate { return newFlags() }},
	{SoldOutNaive, func(Settings) Gate { return newNaive() }},
	{"waiting-room", func(s Settings) Gate { return newRooms(s.RoomRate) }},
}

// Names of all gates.
func Names() (names []string) {
	for _, k := range kinds {
		names = append(names, k.name)
	}
	return names
}

// Check says what is wrong with the settings.
func (s Settings) Check() error {
	for i, name := range s.Gates {
		switch {
		case !slices.Contains(Names(), name):
			return fmt.Errorf("--gate %s: there is no such gate; there are %s", name, strings.Join(Names(), ", "))
		case slices.Contains(s.Gates[:i], name):
			return fmt.Errorf("--gate %s is given twice", name)
		}
	}
	switch {
	case slices.Contains(s.Gates, SoldOut) && slices.Contains(s.Gates, SoldOutNaive):
		return fmt.Errorf("--gate %s and %s: give one of them", SoldOut, SoldOutNaive)
	case !(s.RoomRate >= 0 && s.RoomRate <= mostRate) || s.RoomRate == 0 && slices.Contains(s.Gates, "waiting-room"):
		return fmt.Errorf("--gate-room-rate must be more than 0 and at most %d, such as 100", mostRate)
	case !(s.UserRate >= 0 && s.UserRate <= mostRate):
		return fmt.Errorf("--gate-user-rate must be from 0 to %d, such as 5", mostRate)
	case !(s.SKURate >= 0 && s.SKURate <= mostRate):
		return fmt.Errorf("--gate-sku-rate must be from 0 to %d, such as 5000", mostRate)
	}
	return nil
}

const mostRate = 1_000_000 // a second

// Args are the settings as arguments of `seckill serve`.
func (s Settings) Args() []string {
	if len(s.Gates) == 0 {
		return nil
	}
	return []string{"--gate", strings.Join(s.Gates, ","), fmt.Sprint("--gate-room-rate=", s.RoomRate),
		fmt.Sprint("--gate-user-rate=", s.UserRate), fmt.Sprint("--gate-sku-rate=", s.SKURate)}
}

// Gates are several, one behind the other.
type Gates []Gate

// Open makes the gates of s, in the order in which a purchase meets them.
func Open(s Settings) (Gates, error) {
	if err := s.Check(); err != nil {
		return nil, err
	}
	var gates Gates
	for _, k := range kinds {
		if slices.Contains(s.Gates, k.name) {
			gates = append(gates, k.open(s))
		}
	}
	return gates, nil
}

// Enter passes all gates, or is refused by the first that does. ended is never
// nil.
func (g Gates) Enter(r Request) (ended func(error), refusal *Refusal) {
	var passed []func(error)
	for _, one := range g {
		ended, refusal := one.Enter(r)
		if refusal != nil {
			tell(passed, refusal)
			return func(error) {}, refusal
		}
		if ended != nil {
			passed = append(passed, ended)
		}
	}
	return func(err error) { tell(passed, err) }, nil
}

func tell(passed []func(error), err error) {
	for _, ended := range passed {
		ended(err)
	}
}

// Refilled tells all gates.
func (g Gates) Refilled(sku int64) {
	for _, one := range g {
		one.Refilled(sku)
	}
}

// Waiting is how many buyers have a ticket of a waiting room.
func (g Gates) Waiting() (n int) {
	for _, one := range g {
		if r, ok := one.(*rooms); ok {
			n += r.waiting()
		}
	}
	return n
}

// Reset tells all gates.
func (g Gates) Reset(sku int64) {
	for _, one := range g {
		one.Reset(sku)
	}
}

// stays is a gate that knows nothing about the stock.
type stays struct{}

func (stays) Refilled(int64) {}
func (stays) Reset(int64)    {}

// busy is the refusal of one who is to come back.
func busy(gate string, after time.Duration, position int64, detail string) *Refusal {
	return &Refusal{Gate: gate, Err: seckill.ErrBusy, RetryAfter: after, Position: position, Detail: detail}
}
