package loadtest

import (
	"fmt"
	"runtime"
	"time"
)

// A generator that is short of time measures itself. It shows in two ways, and
// each makes a run's numbers worthless, whatever the ledger says:
//
//   - requests that were due while a connection was free left late, and that
//     lateness is most of what was measured as latency;
//   - in a closed loop, where nothing is due, this process used up all the
//     processors that it may use.
//
// What a request waits for a free connection is no such sign: every connection
// was waiting for the service.
const (
	lagMatters = 10 * time.Millisecond // less is what an ordinary scheduler does
	lagShare   = 0.5                   // of the p99 latency
	cpuShare   = 0.9                   // of the processors
)

// bottleneck says why the generator spoiled the run; "" when it did not.
func (r *Result) bottleneck() (string, Cause) {
	if r.Requests == 0 {
		return "", Cause{}
	}
	if lag := r.Lag.P99; lag > lagMatters.Microseconds() && float64(lag) > lagShare*float64(r.Latency.P99) {
		return fmt.Sprintf("it sent requests up to %s (p99) after they were due, with connections free, of a latency of %s: "+
				"give it a machine of its own, or a lower rate", millis(lag), millis(r.Latency.P99)),
			Cause{CauseLate, params{"lag_ms": float64(lag) / 1000, "latency_ms": float64(r.Latency.P99) / 1000}}
	}
	if most := float64(runtime.GOMAXPROCS(0)); r.GeneratorCPU > cpuShare*most {
		return fmt.Sprintf("it used %.1f of %.0f processors: give it more, or a slower service", r.GeneratorCPU, most),
			Cause{CauseProcessors, params{"used": r.GeneratorCPU, "of": most}}
	}
	return "", Cause{}
}

// A cpuMeter measures what processor time this process uses.
type cpuMeter struct {
	begun time.Time
	used  time.Duration
}

func startCPU() cpuMeter { return cpuMeter{time.Now(), cpuTime()} }

// cores is how many processors were used on average; 0 where that is not
// known, or the run was too short to tell.
func (m cpuMeter) cores() float64 {
	wall := time.Since(m.begun)
	if wall < 2*time.Second { // a burst of so short a time says nothing
		return 0
	}
	return (cpuTime() - m.used).Seconds() / wall.Seconds()
}
