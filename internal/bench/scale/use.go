package scale

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"seckill/internal/backend"
	"seckill/internal/lab"
)

// A Use is what a sale took, from its first request to its last answer. Processor
// times are in seconds.
type Use struct {
	Seconds   float64 `json:"seconds"`
	Services  float64 `json:"services_s"`
	Database  float64 `json:"database_s"`
	Redis     float64 `json:"redis_s"`
	Proxies   float64 `json:"proxies_s"`
	Others    float64 `json:"other_servers_s"` // of the lab, such as etcd
	Generator float64 `json:"generator_s"`
	// Machine is what all processes of the machine used, also those that are not of
	// this run; 0: not known.
	Machine float64 `json:"machine_s,omitempty"`
	// WaitRow and WaitLock are how many orders waited for a locked row, and for a
	// lock, on average.
	WaitRow  float64 `json:"wait_row"`
	WaitLock float64 `json:"wait_lock"`
	// Statements are those of SQL in an order, with BEGIN and COMMIT.
	Statements float64 `json:"statements,omitempty"`
}

// Ours is the processor time of everything that belongs to the run.
func (u Use) Ours() float64 {
	return u.Services + u.Database + u.Redis + u.Proxies + u.Others + u.Generator
}

// waits is how many orders wait for what only one can have.
func (u Use) waits() float64 { return u.WaitRow + u.WaitLock }

// Bounds of bottleneck.
const (
	fullMachine = .85 // of all processors: what is left, the kernel's scheduler loses
	fullThread  = .85 // of the one processor that Redis uses
	queue       = 1.  // so many wait: the row or the lock is hardly ever free
)

// bottleneck names what kept the sale from going faster, from what was measured.
func (u Use) bottleneck(processors int) string {
	if u.Seconds == 0 {
		return ""
	}
	share := func(s float64) string { return fmt.Sprintf("%.0f %%", 100*s/u.Seconds/float64(processors)) }
	waiting := ""
	switch {
	case u.WaitLock >= queue && u.WaitLock > u.WaitRow:
		waiting = fmt.Sprintf("the lock: %.0f wait", u.WaitLock)
	case u.WaitRow >= queue:
		waiting = fmt.Sprintf("the row: %.0f wait", u.WaitRow)
	}
	switch busy := max(u.Ours(), u.Machine); {
	case u.Redis >= fullThread*u.Seconds:
		return "the thread of Redis: " + fmt.Sprintf("%.0f %% busy", 100*u.Redis/u.Seconds)
	case busy >= fullMachine*u.Seconds*float64(processors):
		name, most := u.largest()
		text := "processors: " + name + " " + share(most)
		if foreign := u.Machine - u.Ours(); foreign > most {
			text = "processors: programs of others " + share(foreign)
		}
		if waiting != "" {
			text += "; " + waiting
		}
		return text
	case waiting != "":
		return waiting
	}
	return "nothing is full: the log's flush, and round trips"
}

// largest is who of ours used the most processor time.
func (u Use) largest() (name string, most float64) {
	for _, x := range []struct {
		name string
		used float64
	}{{"services", u.Services}, {"database", u.Database}, {"Redis", u.Redis}, {"proxy", u.Proxies},
		{"other servers", u.Others}, {"load generator", u.Generator}} {
		if x.used > most {
			name, most = x.name, x.used
		}
	}
	return name, most
}

// A sample is what was used until then.
type sample struct {
	at      time.Time
	times   map[string]time.Duration
	rowWait time.Duration // of all transactions together
	err     error
}

func (b *bench) sample(ctx context.Context) (s sample) {
	s.rowWait, s.err = rowWait(ctx, b.In)
	known := false
	if s.times, known = b.Times(); !known && s.err == nil {
		s.err = fmt.Errorf("the processor time of the servers is not known: they must be private ones of this machine, which runs Linux")
	}
	s.at = time.Now()
	return s
}

// rowWait is how long transactions have waited for rows since the server started.
func rowWait(ctx context.Context, in *backend.Instance) (time.Duration, error) {
	var row struct {
		Name  string `gorm:"column:Variable_name"`
		Value string `gorm:"column:Value"`
	}
	if err := in.DB.WithContext(ctx).Raw(`SHOW GLOBAL STATUS LIKE 'Innodb\_row\_lock\_time'`).Scan(&row).Error; err != nil {
		return 0, fmt.Errorf("ask how long rows were waited for: %w", err)
	}
	ms, err := strconv.ParseInt(strings.TrimSpace(row.Value), 10, 64)
	if err != nil {
		return 0, fmt.Errorf("ask how long rows were waited for: %q: %w", row.Value, err)
	}
	return time.Duration(ms) * time.Millisecond, nil
}

// since is what was used between two samples; the caller adds what only it knows.
func (s sample) since(before sample) (u Use) {
	u.Seconds = s.at.Sub(before.at).Seconds()
	if u.Seconds <= 0 || s.times == nil || before.times == nil {
		return Use{}
	}
	u.WaitRow = (s.rowWait - before.rowWait).Seconds() / u.Seconds
	for name, now := range s.times {
		used := max(0, (now - before.times[name]).Seconds())
		switch name {
		case lab.UsedByServices:
			u.Services = used
		case lab.UsedByProxies:
			u.Proxies = used
		case lab.UsedByAll:
			u.Machine = used
		case backend.NameMySQL:
			u.Database = used
		case backend.NameRedis:
			u.Redis = used
		default:
			u.Others += used
		}
	}
	return u
}
