package point

import (
	"sync/atomic"
	"time"
)

// A clock is that of the process, as strategies ask it. Go reads the time without
// the system's library, so no other program can set it for one process.
type clock struct{ ahead, looks atomic.Int64 }

// Now is the time by the process's clock.
func (p *Points) Now() time.Time {
	ahead := p.clock.ahead.Load()
	if ahead != 0 {
		p.clock.looks.Add(1)
	}
	return time.Now().Add(time.Duration(ahead))
}

// Jump sets the clock ahead of the right time; 0 sets it right. It returns how
// often the clock was looked at since the jump before.
func (p *Points) Jump(ahead time.Duration) Clock {
	p.clock.ahead.Store(int64(ahead))
	return Clock{Looks: p.clock.looks.Swap(0), Now: time.Now().Add(ahead).UTC()}
}

// A Clock is what a process says of its own.
type Clock struct {
	Looks int64     `json:"looks"`
	Now   time.Time `json:"now"`
}
