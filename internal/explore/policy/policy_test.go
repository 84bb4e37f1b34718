package policy_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"seckill/internal/explore/policy"
)

// A toy is a world of threads that read and write two counters, x and y. The step "x?" reads x, and
// "x=" writes the value that was read, plus one. The steps "*?" and "*=" do the same with x, but
// say that they may touch anything. The step "y=!" is only possible if the thread has read 1 in x.
type toy struct {
	threads []string // the steps of A, B, …, separated by blanks
	apart   bool     // each thread is a process of its own
	fault   policy.Fault
	rings   int                         // after this many steps x becomes 9 without a choice; 0 means never
	mood    func(thread, step int) bool // returns false if the thread does not offer this step now

	counters map[string]int
	trace    string // the turns so far, as in "AABB"; "!" is the fault
	taken    []policy.Option
	preempts int
	stopped  bool // the fault has happened, which ends A
}

// play plays one schedule.
func (w *toy) play(choose func([]policy.Option) (int, error)) error {
	w.counters, w.trace, w.taken, w.preempts, w.stopped = map[string]int{}, "", nil, 0, false
	at, read := make([]int, len(w.threads)), make([]map[string]int, len(w.threads))
	last, faulted := -1, w.fault == ""
	for {
		var options []policy.Option
		var who []int
		for _, n := range w.order(last) {
			steps := strings.Fields(w.threads[n])
			if at[n] == len(steps) || w.stopped && n == 0 || steps[at[n]] == "y=!" && read[n]["x"] != 1 || w.mood != nil && !w.mood(n, at[n]) {
				continue
			}
			o := policy.Option{Choice: policy.Choice{Who: string(rune('A' + n))}, Touches: strings.Trim(steps[at[n]][:1], "*")}
			if w.apart {
				o.Process = n
			}
			o.Preempts = len(who) > 0 && who[0] == last && n != last
			options, who = append(options, o), append(who, n)
		}
		if len(options) == 0 {
			return nil
		}
		if !faulted {
			options = append(options, policy.Option{Choice: policy.Choice{Fault: w.fault}})
		}
		if options[0].Forced = w.rings > 0 && len(w.taken) == w.rings; options[0].Forced {
			w.counters["x"] = 9
		}
		i, err := choose(options)
		if err != nil {
			return err
		}
		if options[i].Fault != "" {
			faulted, w.stopped = true, true
			w.trace += "!"
			continue
		}
		if options[i].Preempts {
			w.preempts++
		}
		n := who[i]
		step := strings.Fields(w.threads[n])[at[n]]
		if read[n] == nil {
			read[n] = map[string]int{}
		}
		if counter := strings.Replace(step[:1], "*", "x", 1); step[1] == '?' {
			read[n][counter] = w.counters[counter]
		} else {
			w.counters[counter] = read[n][counter] + 1
		}
		at[n]++
		last = n
		w.trace += options[i].Who
		w.taken = append(w.taken, options[i])
	}
}

// order returns the threads, beginning with the thread of the last step.
func (w *toy) order(last int) (list []int) {
	if last >= 0 {
		list = append(list, last)
	}
	for n := range w.threads {
		if n != last {
			list = append(list, n)
		}
	}
	return list
}

// run plays all schedules of a policy, and calls the function each after every schedule. The test
// fails if there are more than maxSchedules.
func (w *toy) run(t *testing.T, p policy.Policy, maxSchedules int, each func()) {
	t.Helper()
	for range maxSchedules {
		if !p.Begin() {
			return
		}
		err := w.play(p.Choose)
		p.End(err)
		switch {
		case err == nil:
			each()
		case !errors.Is(err, policy.ErrRedundant) && !errors.Is(err, policy.ErrDiverged):
			t.Fatal(err)
		}
	}
	t.Fatalf("after %d schedules there are more", maxSchedules)
}

// interleavings returns all texts that consist of a letters A and b letters B.
func interleavings(a, b int) (list []string) {
	if a+b == 0 {
		return []string{""}
	}
	if a > 0 {
		for _, rest := range interleavings(a-1, b) {
			list = append(list, "A"+rest)
		}
	}
	if b > 0 {
		for _, rest := range interleavings(a, b-1) {
			list = append(list, "B"+rest)
		}
	}
	return list
}

// preemptions returns the number of turns in trace that were taken from a thread that could
// continue. Both threads have the given number of steps.
func preemptions(trace string, steps int) (n int) {
	for i := 1; i < len(trace); i++ {
		if trace[i] != trace[i-1] && strings.Count(trace[:i], trace[i-1:i]) < steps {
			n++
		}
	}
	return n
}

func TestEveryInterleavingIsRunOnce(t *testing.T) {
	w := &toy{threads: []string{"x? x= x? x=", "x? x= x? x="}}
	p := &policy.Fewest{}
	var seen []string
	last := 0
	w.run(t, p, 100, func() {
		if w.preempts < last || w.preempts != preemptions(w.trace, 4) {
			t.Errorf("%s has %d preemptions and comes after a schedule with %d", w.trace, w.preempts, last)
		}
		last = w.preempts
		seen = append(seen, w.trace)
	})
	slices.Sort(seen)
	if want := interleavings(4, 4); !slices.Equal(seen, want) {
		t.Errorf("%d schedules %v, want %d: %v", len(seen), seen, len(want), want)
	}
	if p.Pending() != 0 || p.CompleteUpTo() != -1 || p.Redundant != 0 || p.Diverged != 0 {
		t.Errorf("open %d, complete to %d, same %d, diverged %d; want that nothing is left",
			p.Pending(), p.CompleteUpTo(), p.Redundant, p.Diverged)
	}
}

// A stopped search reports up to how many preemptions it has run every schedule.
func TestASearchThatIsStopped(t *testing.T) {
	for complete := range 4 {
		w := &toy{threads: []string{"x? x= x?", "x? x= x?"}}
		p := &policy.Fewest{}
		want := len(slices.DeleteFunc(interleavings(3, 3), func(trace string) bool {
			return preemptions(trace, 3) > complete
		}))
		for n := range want {
			if n > 0 && p.CompleteUpTo() >= complete {
				t.Errorf("after %d of %d schedules it is complete to %d", n, want, p.CompleteUpTo())
			}
			p.Begin()
			p.End(w.play(p.Choose))
		}
		if p.CompleteUpTo() != complete || p.Pending() == 0 {
			t.Errorf("after %d schedules it is complete to %d, want %d", want, p.CompleteUpTo(), complete)
		}
		if p.Reduce = true; p.CompleteUpTo() != -1 {
			t.Errorf("a reduced search is complete to %d", p.CompleteUpTo())
		}
	}
}

// A reduced search, which leaves out other orders of independent steps, reaches every result.
func TestReductionReachesTheSameEnds(t *testing.T) {
	for _, threads := range [][]string{
		{"x? x= y? y=", "y? y= x? x="},
		{"x? x= x? x=", "y? y= y? y="},
		{"x? x=", "x? x=", "y? y="},
		{"x? y? x=", "y? x? y=", "x? x="},
		{"*? *=", "x? x=", "y? y="},
		{"x? x=", "*? *=", "y? y="},
		{"y? y=", "x? x? y=!", "x? x="},
	} {
		ends := func(reduce, apart bool, rings int) (list []string, runs int) {
			w := &toy{threads: threads, apart: apart, rings: rings}
			p := &policy.Fewest{Reduce: reduce}
			w.run(t, p, 10_000, func() {
				runs++
				if end := fmt.Sprint(w.counters, policy.Order(w.taken)); !slices.Contains(list, end) {
					list = append(list, end)
				}
			})
			slices.Sort(list)
			return list, runs
		}
		var n int
		for _, rings := range []int{2, 1, 0} {
			whole, all := ends(false, true, rings)
			fewer, m := ends(true, true, rings)
			if n = all; !slices.Equal(whole, fewer) || m >= n {
				t.Errorf("%v: %d schedules end in %v, and %d reduced ones in %v", threads, n, whole, m, fewer)
			}
		}
		// Threads of one process share memory that Touches does not name, so all their orders are run.
		if _, together := ends(true, false, 0); together != n {
			t.Errorf("%v in one process: %d schedules of %d", threads, together, n)
		}
	}
}

// A schedule that cannot be repeated is tried three times, and then counted as abandoned.
func TestDivergence(t *testing.T) {
	calls := 0
	w := &toy{threads: []string{"x? x=", "x? x="}}
	p := &policy.Fewest{}
	// B offers its steps in the first schedule only.
	w.mood = func(thread, _ int) bool { return thread == 0 || calls == 0 }
	for n, open := range []int{1, 2, 2, 2, 1} {
		if p.Pending() != open || p.Diverged != n/4 || p.CompleteUpTo() != -1 {
			t.Errorf("after %d schedules: %d pending, want %d; %d diverged, want %d; complete to %d, want -1",
				n, p.Pending(), open, p.Diverged, n/4, p.CompleteUpTo())
		}
		p.Begin()
		p.End(w.play(p.Choose))
		calls++
	}
	calls, tries := 0, 0
	w.mood = func(thread, step int) bool {
		if thread == 0 && step == 0 {
			tries++
		}
		return thread == 0 || calls != 1 || tries > 3
	}
	p = &policy.Fewest{}
	w.run(t, p, 100, func() { calls++ })
	if p.Diverged != 0 || calls != len(interleavings(2, 2)) {
		t.Errorf("%d diverged, %d were run; want that a second try is enough", p.Diverged, calls)
	}
}

// Shorten also removes choices in the middle that are not needed.
func TestShorten(t *testing.T) {
	w := &toy{threads: []string{"x? x= x? x=", "x? x=", "y? y="}, fault: "A stops"}
	breaks := func(choices []policy.Choice) (bool, error) {
		err := w.play(policy.Replay(choices))
		if errors.Is(err, policy.ErrDiverged) {
			return false, nil
		}
		return w.counters["x"] < 3 && !w.stopped, err
	}
	long := []policy.Choice{{Who: "C"}, {Who: "A"}, {Who: "C"}, {Who: "B"}, {Who: "B"}, {Who: "A"}}
	short, err := policy.Shorten(long, breaks)
	if want := []policy.Choice{{Who: "A"}, {Who: "B"}}; err != nil || !slices.Equal(short, want) {
		t.Errorf("%v is shortened to %v (%v), want %v", long, short, err, want)
	}
	stop := errors.New("a server stopped")
	if _, err := policy.Shorten(long, func([]policy.Choice) (bool, error) { return false, stop }); !errors.Is(err, stop) {
		t.Errorf("the error of a schedule is lost: %v", err)
	}
}

// A seed always draws the same schedules. In the long run, all schedules with few preemptions are drawn.
func TestRandom(t *testing.T) {
	draw := func(seed uint64, n int) (list []string) {
		w := &toy{threads: []string{"x? x= x? x= x?", "x? x= x? x= x?"}, fault: "A stops"}
		p := policy.NewRandom(rand.New(rand.NewPCG(seed, 1)))
		for range n {
			if !p.Begin() {
				t.Fatal("there is always another schedule")
			}
			err := w.play(p.Choose)
			p.End(err)
			if err != nil {
				t.Fatal(err)
			}
			list = append(list, w.trace)
		}
		return list
	}
	if a, b := draw(1, 50), draw(1, 50); !slices.Equal(a, b) {
		t.Errorf("one seed draws %v, and %v", a, b)
	}
	if slices.Equal(draw(1, 50), draw(2, 50)) {
		t.Error("two seeds draw the same")
	}
	seen := map[string]bool{}
	for _, trace := range draw(1, 20_000) {
		seen[trace] = true
	}
	for _, trace := range interleavings(5, 5) {
		if preemptions(trace, 5) <= 3 && !seen[trace] {
			t.Errorf("%s was never drawn", trace)
		}
	}
	for n := range 5 {
		if trace := strings.Repeat("A", n) + "!BBBBB"; !seen[trace] {
			t.Errorf("%s was never drawn", trace)
		}
	}
}

// Two interleavings count as different only if their steps at one counter have a different order.
func TestOrdersOfConflictingStepsAreCounted(t *testing.T) {
	for _, c := range []struct {
		a, b   string
		orders int
	}{{"x= x=", "x= x=", 6}, {"x= x=", "y= y=", 1}, {"x= y=", "x= y=", 4}, {"x= y=", "y= x=", 3}} {
		w := &toy{threads: []string{c.a, c.b}, apart: true}
		schedules, orders := 0, map[string]bool{}
		w.run(t, &policy.Fewest{}, 100, func() {
			schedules++
			orders[policy.Order(w.taken)] = true
		})
		if schedules != 6 || len(orders) != c.orders {
			t.Errorf("%s beside %s: %d schedules, %d orders; want 6 and %d", c.a, c.b, schedules, len(orders), c.orders)
		}
	}
}
