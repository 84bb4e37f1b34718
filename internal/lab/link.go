package lab

import "seckill/internal/backend"

// linkOf is what a link joins.
type linkOf struct{ service, backend string }

// linked is the lab's configuration for one service: with Options.Links, its
// private servers are at the ends of links of its own. Those of a topology, and
// the five of redlock, have none.
func (l *Lab) linked(service string) (backend.Config, error) {
	c := l.Config()
	if !l.options.Links {
		return c, nil
	}
	for _, name := range backend.Names() {
		p, err := l.Process(name)
		if err != nil || c.Tiers[name] != backend.Private || l.IsArranged(name) {
			continue
		}
		r, err := l.link(linkOf{service, name}, p.Addr)
		if err != nil {
			return c, err
		}
		l.setPrivate(&c, name, r.Addr())
	}
	return c, nil
}

// link finds a link, or makes it.
func (l *Lab) link(of linkOf, to string) (*relay, error) {
	l.mu.Lock()
	r := l.links[of]
	l.mu.Unlock()
	if r != nil {
		return r, nil
	}
	doors, err := l.doors(1)
	if err != nil {
		return nil, err
	}
	r = doors[0]
	r.Point(to)
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.links == nil {
		l.links = map[linkOf]*relay{}
	}
	l.links[of] = r
	return r, nil
}

// doors are relays at free ports, which end with the lab.
func (l *Lab) doors(n int) (doors []*relay, err error) {
	free, err := l.ports.free(n)
	if err != nil {
		return nil, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, port := range free {
		r, err := listenRelay(port)
		if err != nil {
			return nil, err
		}
		l.closers = append(l.closers, r.Close)
		doors = append(doors, r)
	}
	return doors, nil
}

// A Link is the network between a service process and a server.
type Link struct{ relay *relay }

// Link finds the network between a service process, counted from 1, and a server;
// nil: the process reaches it directly.
func (l *Lab) Link(service int, server string) *Link {
	l.mu.Lock()
	defer l.mu.Unlock()
	if r := l.links[linkOf{serviceName(service), server}]; r != nil {
		return &Link{r}
	}
	return nil
}

// Hold holds back replies from now on, and requests, too, if both is set.
// Connections stay open at the service.
func (l Link) Hold(both bool) {
	if both {
		l.relay.Hold(requests, replies)
	} else {
		l.relay.Hold(replies)
	}
}

// Pass has everything pass again, and returns how many bytes were held back. They
// arrive, unless they are lost with their connections.
func (l Link) Pass(lost bool) (held int64) {
	if lost {
		l.relay.Drop()
	}
	l.relay.Flow()
	return l.relay.Held()
}
