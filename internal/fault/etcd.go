package fault

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
)

// FullEtcd: its database has reached its quota. etcd raises the alarm NOSPACE
// itself then, and refuses every write but deletions until somebody ends the
// alarm; here the alarm is raised without filling two gigabytes.
const FullEtcd Name = "full_etcd"

var fullEtcd = Fault{Name: FullEtcd, Question: leaseEnd, Everywhere: true, Lasts: true, Uses: "Etcd",
	Describe: "etcd's space is used up: it refuses every write but deletions",
	missing:  ofLab("etcd"),
	inject: func(ctx context.Context, e Env, a Aim) (*Injection, error) {
		seen := everywhere(ctx, e, a)
		if err := noSpace(ctx, e, "ACTIVATE"); err != nil {
			return nil, fmt.Errorf("fill etcd: %w", err)
		}
		seen.Took = refusesPut(ctx, e)
		seen.weigh()
		return &Injection{seen, func(ctx context.Context, seen *Effect) error {
			if !refusesPut(ctx, e) {
				seen.Took, seen.Matters, seen.Why = false, false, WentOn
			}
			return noSpace(ctx, e, "DEACTIVATE")
		}}, nil
	}}

// noSpace raises the alarm, or ends it.
func noSpace(ctx context.Context, e Env, action string) error {
	var member struct {
		Header struct {
			ID string `json:"member_id"`
		} `json:"header"`
	}
	if err := e.Etcd(ctx, "/v3/maintenance/status", "{}", &member); err != nil {
		return err
	}
	return e.Etcd(ctx, "/v3/maintenance/alarm",
		fmt.Sprintf(`{"action":%q,"memberID":%q,"alarm":"NOSPACE"}`, action, member.Header.ID), new(json.RawMessage))
}

// refusesPut reports whether a write is refused for want of space.
func refusesPut(ctx context.Context, e Env) bool {
	err := e.Etcd(ctx, "/v3/kv/put", `{"key":"c2Vja2lsbC1tYXJr"}`, new(json.RawMessage)) // seckill-mark
	return err != nil && strings.Contains(err.Error(), "database space exceeded")
}
