package fault

import (
	"context"
	"fmt"
	"time"
)

// A Link is the network between a service process and a server.
type Link interface {
	// Hold holds back replies from now on, and requests, too, if both is set.
	// Connections stay open at the service.
	Hold(both bool)
	// Pass has everything pass again, and returns how many bytes were held back. They
	// arrive, unless they are lost with their connections.
	Pass(lost bool) (held int64)
}

// Faults of the link between one service process and a server. The other
// processes reach it.
var (
	partRedis     = parts(redisServer, "Redis", "Redis")
	partZooKeeper = parts(zookeeperServer, "ZooKeeper", "ZooKeeper")
	partEtcd      = parts("etcd", "Etcd", "etcd")
	muteMySQL     = mutes("mysql", "", "MySQL")
	muteRedis     = mutes(redisServer, "Redis", "Redis")
)

func parts(server, uses, title string) Fault {
	return ofLink("partition_"+Name(server), server, leaseEnd, uses, true,
		"nothing passes between a service process and "+title+"; what was sent arrives in the end")
}

func mutes(server, uses, title string) Fault {
	return ofLink("lose_replies_"+Name(server), server, lostReply, uses, false,
		title+" does what a service process asks, and its replies are lost")
}

// ofLink holds back what passes over the link of one service process: both ways,
// and it arrives in the end, or only the replies, which are lost.
func ofLink(name Name, server, question, uses string, both bool, describe string) Fault {
	return Fault{Name: name, Question: question, Lasts: true, Uses: uses, Describe: describe,
		missing: func(e Env) *Lack {
			_, why := e.Link(1, server)
			return why
		},
		inject: func(ctx context.Context, e Env, a Aim) (*Injection, error) {
			p, err := service(e, a.Service)
			if err != nil {
				return nil, err
			}
			defer p.Unlock()
			link, why := e.Link(a.Service, server)
			if why != nil {
				return nil, fmt.Errorf("%s: %s", name, why)
			}
			seen := before(ctx, p, a.Service, a)
			begun := time.Now()
			link.Hold(both)
			seen.Took = true
			seen.weigh()
			return &Injection{seen, func(_ context.Context, e *Effect) error {
				held := link.Pass(!both)
				e.Stood = int(time.Since(begun).Milliseconds())
				if held == 0 {
					e.Took, e.Matters, e.Why = false, false, NothingPassed
				}
				return nil
			}}, nil
		}}
}
