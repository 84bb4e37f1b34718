package lab

import (
	"context"
	"errors"
	"slices"
	"time"
)

// elected bounds the wait for an election.
const elected = 20 * time.Second

// asking is how a server that votes says its version, and whether it leads.
type asking func(ctx context.Context, addr string) (version string, leads bool, err error)

// versionBy is the check of a server.
func versionBy(ask asking) func(ctx context.Context, addr string) (string, error) {
	return func(ctx context.Context, addr string) (string, error) {
		version, _, err := ask(ctx, addr)
		return version, err
	}
}

// startVoters are three servers that elect a leader.
func (l *Lab) startVoters(ctx context.Context, k kind, program Program) (*Ensemble, error) {
	nodes, err := k.start(ctx, program, three)
	if err != nil {
		return nil, err
	}
	// leader waits until there is one.
	leader := func(ctx context.Context) (leader *Process, err error) {
		err = Await(ctx, elected, func(ctx context.Context) error {
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
	_, err = leader(ctx)
	return &Ensemble{Nodes: nodes, Roles: []string{Leader, Follower},
		Node: func(ctx context.Context, role string) (*Process, error) {
			leader, err := leader(ctx)
			if err != nil || role == Leader {
				return leader, err
			}
			i := slices.IndexFunc(nodes, func(p *Process) bool { return p != leader && p.Alive() })
			if i < 0 {
				return nil, errors.New("the leader has no follower")
			}
			return nodes[i], nil
		},
		heal: func(ctx context.Context) error {
			_, err := leader(ctx)
			return err
		}}, err
}
