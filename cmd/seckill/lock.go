package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/redis/go-redis/v9"

	"seckill/internal/backend"
	"seckill/internal/catalog"
	"seckill/internal/lab"
	"seckill/internal/lock"
	"seckill/internal/seckill"
	"seckill/strategies"
)

// LockCmd holds a lock while a command runs, as flock(1) and etcdctl lock do.
type LockCmd struct {
	Name    string   `arg:"" help:"The lock: a strategy's name, such as redsync or zk."`
	Key     string   `arg:"" help:"What is locked: the backend's own key, path or name, taken as it is."`
	Command []string `arg:"" passthrough:"partial" help:"What runs while the lock is held."`

	Wait       *time.Duration `xor:"wait" placeholder:"DURATION" help:"Wait so long for the lock; 0 tries once. Without it: until the lock is ours."`
	NoWait     bool           `short:"n" xor:"wait" help:"Try once, as --wait=0 does."`
	Lease      time.Duration  `default:"0" help:"How long the lock lives, if it has an end. 0: it is renewed while the command runs; a lock that cannot be renewed lives for --ttl, or as said below."`
	TTL        time.Duration  `name:"ttl" default:"${LockLease}" env:"SECKILL_LOCK_LEASE" help:"How long a lock that is renewed outlives a holder who has died; every third of it is looked whether the lock is ours still."`
	Poll       time.Duration  `default:"${LockPoll}" env:"SECKILL_LOCK_POLL" help:"About how long a lock that polls pauses between two attempts."`
	Session    time.Duration  `name:"zookeeper-session" default:"6s" env:"SECKILL_ZOOKEEPER_SESSION" help:"Session time-out to ask ZooKeeper for: what --ttl is to the others."`
	Above      uint64         `default:"0" placeholder:"TOKEN" help:"The fencing token must be greater than this: the greatest that whatever you write to has seen. For redis-fenced, whose Redis may have lost its count."`
	Grace      time.Duration  `default:"5s" help:"When the lock is lost: how long after SIGTERM the command gets SIGKILL."`
	BusyStatus int            `short:"E" default:"115" help:"Exit status for a lock that was not ours in time."`
	Verbose    bool           `short:"v" xor:"talk" help:"Say when the lock was taken and given back."`
	Quiet      bool           `short:"q" xor:"talk" help:"Say nothing but what is wrong with the command line."`

	Lab   bool           `help:"Use the servers of the lab that is running (seckill up) where no address is given."`
	Given backend.Config `embed:""`
}

// Exit statuses of seckill lock, where the command's own is not. They are
// used by no other tool around a command: flock, timeout, env, curl, xargs.
// 126 and 127 mean what they mean to every shell.
const (
	statusBusy        = 115
	statusLost        = 116
	statusUnavailable = 117
	statusLockUsage   = 118
	statusNoExec      = 126
	statusNotFound    = 127
	statusSignal      = 128 // and its number
)

// The command's environment. The token is absent if the lock has none: an
// empty one or a 0 would pass for the smallest.
const (
	envLockName = "SECKILL_LOCK_NAME"
	envLockKey  = "SECKILL_LOCK_KEY"
	envFence    = "SECKILL_FENCE"
)

// Help is what seckill lock --help says below its flags.
func (LockCmd) Help() string {
	return fmt.Sprintf(`NAME is one of: %s.

COMMAND finds %s and %s in its environment, and in %s the fencing token, if the lock has one: a number that grows with every
grant of the same key. What is written under the lock should carry the number: storage that has seen a greater one refuses the write.
redis-fenced counts in Redis: give it --above, or a Redis that comes back without its data begins again at 1.

COMMAND runs in a process group of its own. SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1 and SIGUSR2 are passed on to it, and the lock is
given back when COMMAND has ended, however it ends. What it leaves in the background runs on without the lock. When the lock is lost, the
group gets SIGTERM, and SIGKILL after --grace. The bad examples among the locks do not watch themselves, and
no lock knows what happened while this process was stopped: only the fencing token protects from that.

A holder that dies (kill -9, power) blocks the others for --ttl or --lease; with a lock that lives in a session, until the server has
noticed. Not so: lock-table-central and lock-table-segmented, without --lease, for a year (31536000 s, as their article has it);
%s, for ever.

Exit status: COMMAND's own, 128+N if signal N ended it (or ended the wait for the lock), or
  %d  busy: the lock was not ours in time (--busy-status sets another)
  %d  the lock was lost while COMMAND ran, whatever became of COMMAND
  %d  the lock's backend is unavailable; COMMAND was not started
  %d  wrong command line, or the lock's backend was not given
  %d  COMMAND cannot be executed
  %d  COMMAND was not found`,
		strings.Join(lockNames(), ", "), envLockName, envLockKey, envFence, strings.Join(endless, ", "),
		statusBusy, statusLost, statusUnavailable, statusLockUsage, statusNoExec, statusNotFound)
}

// endless are the locks that a dead holder never gives back.
var endless = []string{"lock-insert-plain", "lock-table-v1", "redis-setnx"}

// usageStatus is the exit status of a command line that is wrong.
func (LockCmd) usageStatus() int { return statusLockUsage }

// Validate finds what is wrong with the command line alone.
func (c *LockCmd) Validate() error {
	if len(c.Command) > 0 && c.Command[0] == "--" {
		c.Command = c.Command[1:]
	}
	if len(c.Command) == 0 || c.Command[0] == "" {
		return errors.New("give the COMMAND that runs while the lock is held: seckill lock NAME KEY -- COMMAND")
	}
	if _, err := findLock(c.Name); err != nil {
		return err
	}
	if c.Key == "" {
		return errors.New("KEY is empty: give the key, path or name to lock")
	}
	for _, flag := range []struct {
		name string
		ok   bool
		want string
	}{
		{"--lease", c.Lease >= 0, "0 or longer, such as 1m"},
		{"--ttl", c.TTL > 0, "longer than 0, such as 8s"},
		{"--poll", c.Poll > 0, "longer than 0, such as 10ms"},
		{"--zookeeper-session", c.Session > 0, "longer than 0, such as 6s"},
		{"--grace", c.Grace >= 0, "0 or longer, such as 5s"},
		{"--busy-status", c.BusyStatus >= 0 && c.BusyStatus <= 255, "from 0 to 255"},
	} {
		if !flag.ok {
			return fmt.Errorf("%s must be %s", flag.name, flag.want)
		}
	}
	return nil
}

// findLock finds a strategy that is a lock and can be one between processes.
func findLock(name string) (catalog.Info, error) {
	for _, info := range strategies.All() {
		switch {
		case info.Name != name:
		case info.Locker == nil:
			return info, fmt.Errorf("%s deducts stock by itself: it is not a lock; locks are: %s", name, strings.Join(lockNames(), ", "))
		case inProcess(info):
			return info, fmt.Errorf("%s is a lock inside one process: around a command it would exclude no other process; locks are: %s",
				name, strings.Join(lockNames(), ", "))
		default:
			return info, nil
		}
	}
	return catalog.Info{}, fmt.Errorf("there is no lock %q; there are: %s", name, strings.Join(lockNames(), ", "))
}

func inProcess(i catalog.Info) bool { return i.Family == "local" }

func lockNames() (names []string) {
	for _, info := range strategies.All() {
		if info.Locker != nil && !inProcess(info) {
			names = append(names, info.Name)
		}
	}
	return names
}

// Run takes the lock, runs the command and gives the lock back.
func (c *LockCmd) Run(ctx context.Context, stderr stderrWriter) error {
	redis.SetLogger(redisLog{slog.New(slog.DiscardHandler)}) // errors are returned
	signals := make(chan os.Signal, 16)
	signal.Notify(signals, heeded()...)
	defer signal.Stop(signals)
	if ctx.Err() != nil { // before we listened
		return exitStatus(statusSignal + int(syscall.SIGINT))
	}
	h := holder{LockCmd: c, said: stderr, signals: signals}
	if c.Quiet {
		h.said = io.Discard
	}
	return h.run(context.WithoutCancel(ctx))
}

// A holder is one run of LockCmd.
type holder struct {
	*LockCmd
	said    io.Writer
	signals <-chan os.Signal // passed on while the command runs; else the end
}

func (h *holder) say(format string, args ...any) {
	fmt.Fprintf(h.said, "seckill: "+format+"\n", args...)
}

// fail says what went wrong and is the exit status for it.
func (h *holder) fail(status int, format string, args ...any) error {
	h.say(format, args...)
	return exitStatus(status)
}

func (h *holder) run(ctx context.Context) error {
	// A command that cannot be run needs no lock.
	path, status, err := findCommand(h.Command[0])
	if err != nil {
		return h.fail(status, "%s: %v", h.Command[0], err)
	}
	var in *backend.Instance
	defer func() {
		if in != nil {
			_ = in.Close() // what it could not say, its sessions' ends do
		}
	}()
	var lease lock.Lease
	asking, cancel := context.WithCancel(ctx)
	defer cancel() // not earlier: the lease lives under it
	asked := time.Now()
	err = h.unlessSignalled(cancel, func() (err error) {
		var locker lock.Locker
		if in, locker, err = h.open(asking); err != nil {
			return err
		}
		lease, err = locker.Acquire(asking, h.Key, lock.Options{Wait: h.wait(), Lease: h.Lease, Above: h.Above})
		return err
	})
	waited := time.Since(asked).Round(time.Millisecond)
	if err != nil {
		if lease != nil { // it came together with the signal
			_ = h.release(ctx, lease)
		}
		return h.notTaken(err, waited)
	}
	fence := ""
	if lease.Fence() != 0 {
		fence = fmt.Sprintf(", fencing token %d", lease.Fence())
	}
	h.verbose("took %s %s after %v%s", h.Name, h.Key, waited, fence)

	status, lost, err := h.command(path, lease)
	released := h.release(ctx, lease)
	switch {
	case err != nil: // it never ran
		return h.fail(notStarted(err), "%s: %v", h.Command[0], err)
	case lost:
		return exitStatus(statusLost) // it was said when it happened
	case errors.Is(released, lock.ErrNotHeld):
		return h.fail(statusLost, "%s %s was not ours any more when the command ended", h.Name, h.Key)
	case released != nil:
		h.say("could not give %s %s back; it ends with its lease or session, if it has one: %v", h.Name, h.Key, released)
	default:
		h.verbose("gave %s %s back", h.Name, h.Key)
	}
	if status != 0 {
		return exitStatus(status)
	}
	return nil
}

func (h *holder) verbose(format string, args ...any) {
	if h.Verbose {
		h.say(format, args...)
	}
}

func (h *holder) wait() time.Duration {
	switch {
	case h.NoWait:
		return 0
	case h.Wait == nil:
		return -1
	}
	return *h.Wait
}

// A signalled is the end of waiting by a signal.
type signalled struct{ syscall.Signal }

func (s signalled) Error() string { return s.String() }

// unlessSignalled runs f, which the first signal cancels. It returns when f
// does, so that f can clean up; a second signal ends the program.
func (h *holder) unlessSignalled(cancel func(), f func() error) error {
	done := make(chan error, 1)
	go func() { done <- f() }()
	var got error
	for {
		select {
		case err := <-done:
			return cmp.Or(got, err)
		case s := <-h.signals:
			n, ends := ending(s)
			switch {
			case !ends:
			case got != nil:
				os.Exit(statusSignal + int(n)) // it hangs, and so would closing
			default:
				got = signalled{n}
				cancel()
			}
		}
	}
}

// open connects to what the lock needs, and to nothing else.
func (h *holder) open(ctx context.Context) (*backend.Instance, lock.Locker, error) {
	info, err := findLock(h.Name)
	if err != nil {
		return nil, nil, err
	}
	if info.Broken() {
		h.say("warning: %s is a bad example, which lets several holders in at a time", h.Name)
	}
	all, err := h.backends()
	if err != nil {
		return nil, nil, err
	}
	config := all.Only(info.Needs...)
	config.MaxSQLConns, config.ZooKeeperSession = 4, h.Session
	in, err := backend.Open(ctx, config)
	if err != nil {
		return nil, nil, fmt.Errorf("%w: %w", seckill.ErrUnavailable, err)
	}
	for _, need := range info.Needs {
		if ok, why := in.Has(need); !ok {
			_ = in.Close()
			kind, _ := backend.KindOf(need)
			return nil, nil, notGiven{fmt.Sprintf("%s: %s (%s), or --lab while seckill up is running", h.Name, why, kind.Addresses[0].Env)}
		}
	}
	settings := catalog.DefaultSettings()
	settings.LockLease, settings.LockPoll = h.TTL, h.Poll
	locker, err := catalog.NewLocker(info, catalog.Deps{Instance: in, Settings: settings})
	if err != nil {
		_ = in.Close()
		return nil, nil, err
	}
	return in, locker, nil
}

// notGiven: the command line lacks a backend.
type notGiven struct{ what string }

func (e notGiven) Error() string { return e.what }

// backends are those that were given. The lab's are taken when they are asked
// for, never by themselves: a lock on the wrong server excludes no one.
func (h *holder) backends() (backend.Config, error) {
	config := h.Given
	if !h.Lab {
		return config, nil
	}
	running, err := lab.Running(host())
	if err != nil {
		return config, err
	}
	if running == nil {
		return config, notGiven{"--lab: no lab is running: start one with seckill up"}
	}
	return config.Or(running.Config), nil
}

// notTaken is the exit status for a lock that is not ours.
func (h *holder) notTaken(err error, waited time.Duration) error {
	var by signalled
	var lacks notGiven
	switch {
	case errors.As(err, &by):
		return exitStatus(statusSignal + int(by.Signal))
	case errors.Is(err, seckill.ErrBusy):
		return h.fail(h.BusyStatus, "%s %s is held by another process (waited %v)", h.Name, h.Key, waited)
	case errors.As(err, &lacks):
		return h.fail(statusLockUsage, "%v", err)
	case errors.Is(err, seckill.ErrInvalid): // the key, as there is no purchase
		return h.fail(statusLockUsage, "%s: %s", h.Name, strings.TrimPrefix(err.Error(), seckill.ErrInvalid.Error()+": "))
	case errors.Is(err, zk.ErrInvalidPath):
		return h.fail(statusLockUsage, "%q is no ZooKeeper path: it begins with a slash, does not end in one, and has no empty part", h.Key)
	}
	return h.fail(statusUnavailable, "%s %s: %v", h.Name, h.Key, err)
}

func (h *holder) release(ctx context.Context, l lock.Lease) error {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	return l.Release(ctx)
}
