package fault

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"
)

// FullEtcd: its database has reached its quota. etcd raises the alarm NOSPACE
// itself then, and refuses every write but deletions until somebody ends the
// alarm; here the alarm is raised without filling two gigabytes.
const FullEtcd Name = "full_etcd"

var fullEtcd = Fault{Name: FullEtcd, Question: leaseEnd, Everywhere: true, Lasts: true, Uses: "Etcd",
	Describe: "etcd's space is used up: it refuses every write but deletions",
	missing:  ofLab("etcd"),
	inject: func(ctx context.Context, e Env, a Aim) (*Injection, error) {
		p, why := e.Server("etcd")
		if why != nil {
			return nil, fmt.Errorf("%s: %s", FullEtcd, why)
		}
		seen := everywhere(ctx, e, a)
		if err := noSpace(ctx, p.Address(), "ACTIVATE"); err != nil {
			return nil, fmt.Errorf("fill etcd: %w", err)
		}
		seen.Took = refusesPut(ctx, p.Address())
		seen.weigh()
		return &Injection{seen, func(ctx context.Context, seen *Effect) error {
			if !refusesPut(ctx, p.Address()) {
				seen.Took, seen.Matters, seen.Why = false, false, WentOn
			}
			return noSpace(ctx, p.Address(), "DEACTIVATE")
		}}, nil
	}}

// noSpace raises the alarm, or ends it.
func noSpace(ctx context.Context, address, action string) error {
	var member struct {
		Header struct {
			ID string `json:"member_id"`
		} `json:"header"`
	}
	if err := askEtcd(ctx, address+"/v3/maintenance/status", "{}", &member); err != nil {
		return err
	}
	return askEtcd(ctx, address+"/v3/maintenance/alarm",
		fmt.Sprintf(`{"action":%q,"memberID":%q,"alarm":"NOSPACE"}`, action, member.Header.ID), nil)
}

// refusesPut reports whether a write is refused for want of space.
func refusesPut(ctx context.Context, address string) bool {
	err := askEtcd(ctx, address+"/v3/kv/put", `{"key":"c2Vja2lsbC1tYXJr"}`, nil) // seckill-mark
	return err != nil && strings.Contains(err.Error(), "database space exceeded")
}

// askEtcd calls its gateway for HTTP and JSON.
func askEtcd(ctx context.Context, url, body string, answer any) error {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+url, strings.NewReader(body))
	if err != nil {
		return err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	var said json.RawMessage
	if err := json.NewDecoder(response.Body).Decode(&said); err != nil {
		return fmt.Errorf("%s answers %s: %w", url, response.Status, err)
	}
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("%s answers %s: %s", url, response.Status, said)
	}
	if answer == nil {
		return nil
	}
	return json.Unmarshal(said, answer)
}
