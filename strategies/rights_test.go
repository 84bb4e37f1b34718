package strategies_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"seckill/internal/backend"
	"seckill/internal/catalog"
	"seckill/internal/judge"
	"seckill/internal/lab/labtest"
	"seckill/internal/seckill"
	"seckill/strategies"
	"seckill/strategies/saletest"
)

// In the middle of a sale, the Redis user loses the right to one command and gets it back, for
// each command in turn. If the command is inside a script, Redis keeps the script's earlier
// writes. Afterwards the rest is sold, and the audit is exact.
func TestARightIsWithdrawn(t *testing.T) {
	for _, info := range strategies.All() {
		if slices.Contains(info.Needs, backend.Redis) && info.Guarantees[catalog.LostReply] == catalog.Holds {
			t.Run(info.Name, func(t *testing.T) {
				t.Parallel()
				u := newUser(t, info)
				for _, command := range info.RedisCommands() {
					t.Run(command, func(t *testing.T) { u.losesFor(t, command) })
				}
			})
		}
	}
}

// docs/cli.md lists the rights that withRights grants.
func TestDocsListTheRightsOfRedis(t *testing.T) {
	text := labtest.Value(os.ReadFile("../docs/cli.md")).Must(t)
	listed := map[string]string{}
	for _, line := range regexp.MustCompile("(?m)^- (`redi?s.*`): ([a-z ]+)$").FindAllStringSubmatch(string(text), -1) {
		for name := range strings.SplitSeq(line[1], ", ") {
			listed[strings.Trim(name, "`")] = line[2]
		}
	}
	for _, info := range strategies.All() {
		labtest.Same(t, listed[info.Name], strings.ToLower(strings.Join(info.RedisCommands(), " ")),
			"docs/cli.md lists the rights of %s", info.Name)
	}
}

// withRights returns config with a user of Redis that has the strategy's rights and no others; the
// same for each node of a quorum. When the test ends, no command may have been denied to the user,
// except those that an instance tries when it is opened.
func withRights(t *testing.T, info catalog.Info, config backend.Config) backend.Config {
	rules := []any{"~*seckill:*", "&*seckill:*", "+ping"}
	if info.Name == "redis-random-key" {
		rules = append(rules, "allkeys")
	}
	for _, command := range info.RedisCommands() {
		rules = append(rules, "+"+strings.ToLower(command))
	}
	admin := labtest.Open(t, config.Only(backend.Redis, backend.RedisQuorum))
	servers := slices.Clone(admin.RedisNodes)
	if c, is := admin.Redis.(*redis.Client); is {
		servers = append(servers, c)
	}
	for _, c := range servers {
		labtest.Must(t, c.ConfigSet(t.Context(), "acllog-max-len", "10000").Err())
		t.Cleanup(func() {
			for _, denied := range labtest.Value(c.ACLLog(context.Background(), 10000).Result()).Must(t) {
				if denied.Username == t.Name() && denied.Object != "info" && denied.Object != "eval" {
					t.Errorf("%s was denied: %s %s", denied.Username, denied.Reason, denied.Object)
				}
			}
		})
	}
	config.RedisAddrs = labtest.RedisUser(t, config.RedisAddrs, t.Name(), rules...)
	config.RedlockAddrs = labtest.RedisUser(t, config.RedlockAddrs, t.Name(), rules...)
	return config
}

// For a user without rights, the error names each command that a strategy would have to send.
func TestStrategiesNameTheRightsThatTheyLack(t *testing.T) {
	config := labtest.Config(t, backend.SQL, backend.Redis, backend.RedisQuorum)
	config.RedisAddrs = labtest.RedisUser(t, config.RedisAddrs, "nobody", "~*", "&*", "+ping", "+eval")
	config.RedlockAddrs = labtest.RedisUser(t, config.RedlockAddrs, "nobody", "~*", "&*", "+ping", "+eval")
	in := labtest.Open(t, config)
	for _, info := range strategies.All() {
		missing := info.Missing(in)
		for _, command := range info.RedisCommands() {
			has := slices.ContainsFunc(missing, func(why string) bool {
				return strings.HasPrefix(why, "user nobody of Redis has no right to "+command+":")
			})
			if has == (command == "EVAL") {
				t.Errorf("%s may not send %s, and is missing %q", info.Name, command, missing)
			}
		}
	}
}

// A user is the Redis user of one strategy's process, whose rights the test changes.
type user struct {
	info        catalog.Info
	mine, admin *backend.Instance
}

func newUser(t *testing.T, info catalog.Info) *user {
	config := labtest.Config(t, info.Uses()...)
	u := &user{info: info, admin: labtest.Open(t, config)}
	config.RedisAddrs = labtest.RedisUser(t, config.RedisAddrs, info.Name, "~*", "&*", "+@all")
	u.mine = labtest.Open(t, config)
	return u
}

func (u *user) may(t *testing.T, rules ...any) {
	t.Helper()
	labtest.Must(t, u.admin.Redis.Do(t.Context(), append([]any{"ACL", "SETUSER", u.info.Name}, rules...)...).Err())
}

func (u *user) losesFor(t *testing.T, command string) {
	settings := catalog.Settings{LockTimes: catalog.LockTimes{LockWait: 200 * time.Millisecond,
		LockLease: 500 * time.Millisecond}}
	s := saletest.Open(t, u.info, 3, catalog.Deps{Instance: u.mine, Settings: settings})
	var told []judge.Call
	calls := 0
	buy := func(user int64) error { // each call makes a new request
		p := s.Purchase(user, 1)
		calls++
		p.RequestID += fmt.Sprint("-", calls)
		r, err := s.Processes[0].Deduct(t.Context(), p)
		told = append(told, judge.CallOf(p, r, err))
		return err
	}
	labtest.Must(t, buy(1))
	order := told[0].OrderID

	u.may(t, "-"+strings.ToLower(command))
	for _, user := range []int64{2, 2, 3} {
		if err := buy(user); errors.Is(err, seckill.ErrSoldOut) {
			t.Errorf("user %d is told %v while two units are left", user, err)
		}
	}
	_ = s.Processes[0].Restore(t.Context(), order)
	u.may(t, "+"+strings.ToLower(command))

	again := func(what string, try func() error, want error) {
		t.Helper()
		var err error
		labtest.Soon(t, what, func() bool {
			err = try()
			return !errors.Is(err, seckill.ErrBusy) && !errors.Is(err, seckill.ErrUnknown)
		})
		labtest.Check(t, err, want, "%s", what)
	}
	again("the cancellation", func() error { return s.Processes[0].Restore(t.Context(), order) }, nil)
	for user := range int64(3) {
		again("a unit that is left", func() error {
			err := buy(user + 2)
			if errors.Is(err, seckill.ErrDuplicate) {
				return nil // done by the call before
			}
			return err
		}, nil)
	}
	again("more than there is", func() error { return buy(5) }, seckill.ErrSoldOut)
	s.Held(t, append(told, judge.Call{Kind: judge.CallCancel, RequestID: told[0].RequestID, User: 1, Quantity: 1,
		OrderID: order, Outcome: judge.OutcomeCancelled})...)

	set, ok := s.Processes[0].(seckill.Resetter)
	if !ok || u.info.Stock == seckill.InRow {
		return
	}
	u.may(t, "-"+strings.ToLower(command))
	row := labtest.Value(s.Store.Schedule(t.Context(), s.SKU, u.info.Name, 4, nil)).Must(t)
	s.Run, s.Stock = row.Run, 4
	_ = set.Reset(t.Context(), s.SKU, 4)
	u.may(t, "+"+strings.ToLower(command))
	again("the reset", func() error { return set.Reset(t.Context(), s.SKU, 4) }, nil)
	again("all units of the next sale", func() error {
		_, err := s.Buy(t.Context(), 6, 4)
		return err
	}, nil)
	s.Held(t)
}
