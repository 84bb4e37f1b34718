package lab

import (
	"context"
	"errors"
	"slices"
	"time"
)

// electionTimeout bounds the wait for an election.
const electionTimeout = 20 * time.Second

// An askFunc asks a server that votes for its version and whether it leads.
type askFunc func(ctx context.Context, addr string) (version string, leads bool, err error)

// checkVersion makes a server's check of an askFunc.
func checkVersion(ask askFunc) func(ctx context.Context, addr string) (string, error) {
	return func(ctx context.Context, addr string) (string, error) {
		version, _, err := ask(ctx, addr)
		return version, err
	}
}

// startVoters starts three servers, which elect a leader.
func (l *Lab) startVoters(ctx context.Context, k kind, program Program) (*Ensemble, error) {
	nodes, err := k.start(ctx, program, groupSize)
	if err != nil {
		return nil, err
	}
	awaitLeader := func(ctx context.Context) (leader *Process, err error) {
		err = Await(ctx, electionTimeout, func(ctx context.Context) error {
			leader = nil
			var errs []error
			for _, p := range nodes {
				_, leads, err := k.ask(ctx, p.Addr)
				if leads {
					leader = p
				}
				errs = append(errs, err)
			}
			if leader == nil {
				return errors.Join(append(errs, errors.New("there is no leader"))...)
			}
			return nil
		})
		return leader, err
	}
	_, err = awaitLeader(ctx)
	return &Ensemble{Nodes: nodes, Roles: []string{Leader, Follower},
		FindNode: func(ctx context.Context, role string) (*Process, error) {
			leader, err := awaitLeader(ctx)
			if err != nil || role == Leader {
				return leader, err
			}
			i := slices.IndexFunc(nodes, func(p *Process) bool { return p != leader && p.Alive() })
			if i < 0 {
				return nil, errors.New("the leader has no follower")
			}
			return nodes[i], nil
		},
		repair: func(ctx context.Context) error {
			_, err := awaitLeader(ctx)
			return err
		}}, err
}
