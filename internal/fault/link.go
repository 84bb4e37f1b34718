package fault

import (
	"context"
	"fmt"
	"time"
)

// A Link is the network between a service process and a server.
type Link interface {
	// Begin has something go wrong, and returns how many connections it ended at the
	// server.
	Begin(Trouble) (ended int64)
	// End has everything pass again, and returns how many bytes were held back or
	// delayed. What was held back arrives, unless it is lost with its connections.
	End(lost bool) (met int64)
}

// Trouble is what goes wrong on a link. Connections stay open at the service.
type Trouble struct {
	Requests, Replies bool          // they are held back
	Gone              bool          // the server's ends are closed, and the service is not told
	Lost              bool          // what was held back is lost in the end
	Late              time.Duration // everything comes later by this
}

// lateness of a slow link is about that of another continent.
const lateness = 60 * time.Millisecond

// Faults of the link between one service process and a server. The other
// processes reach it.
var (
	partMySQL     = parts("mysql", lateCommand, "", "MySQL")
	partRedis     = parts(redisServer, leaseEnd, "Redis", "Redis")
	partZooKeeper = parts(zookeeperServer, leaseEnd, "ZooKeeper", "ZooKeeper")
	partEtcd      = parts("etcd", leaseEnd, "Etcd", "etcd")
	partJetStream = parts("jetstream", lateCommand, "JetStream", "NATS")

	lateMySQL = links("delay_requests_mysql", "mysql", lateCommand, "", Trouble{Requests: true},
		"what a service process asks MySQL arrives late, long after it was asked")
	lateRedis = links("delay_requests_redis", redisServer, leaseEnd, "Redis", Trouble{Requests: true},
		"what a service process asks Redis arrives late, long after it was asked")

	muteMySQL     = mutes("mysql", "", "MySQL")
	muteRedis     = mutes(redisServer, "Redis", "Redis")
	muteZooKeeper = mutes(zookeeperServer, "ZooKeeper", "ZooKeeper")
	muteEtcd      = mutes("etcd", "Etcd", "etcd")
	muteJetStream = mutes("jetstream", "JetStream", "NATS")

	halfMySQL = links("half_open_mysql", "mysql", lostReply, "", Trouble{Gone: true},
		"MySQL has closed the connections of a service process, which is not told and waits")
	halfRedis = links("half_open_redis", redisServer, leaseEnd, "Redis", Trouble{Gone: true},
		"Redis has closed the connections of a service process, which is not told and waits")

	slowMySQL = links("slow_mysql", "mysql", processes, "", Trouble{Late: lateness},
		"the way between a service process and MySQL is slow, as to another continent")
	slowRedis = links("slow_redis", redisServer, processes, "Redis", Trouble{Late: lateness},
		"the way between a service process and Redis is slow, as to another continent")
)

func parts(server, question, uses, title string) Fault {
	return links("partition_"+Name(server), server, question, uses, Trouble{Requests: true, Replies: true},
		"nothing passes between a service process and "+title+"; what was sent arrives in the end")
}

func mutes(server, uses, title string) Fault {
	return links("lose_replies_"+Name(server), server, lostReply, uses, Trouble{Replies: true, Lost: true},
		title+" does what a service process asks, and its replies are lost")
}

// links has trouble come over the link of one service process.
func links(name Name, server, question, uses string, t Trouble, describe string) Fault {
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
			ended := link.Begin(t)
			seen.Took = true
			seen.weigh()
			return &Injection{seen, func(_ context.Context, e *Effect) error {
				met := link.End(t.Lost)
				e.Stood = int(time.Since(begun).Milliseconds())
				if t.Gone {
					met = ended
				}
				if met == 0 {
					e.Took, e.Matters, e.Why = false, false, NothingPassed
				}
				return nil
			}}, nil
		}}
}
