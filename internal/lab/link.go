package lab

import (
	"context"
	"database/sql"
	"errors"
	"net/http"
	"time"

	"github.com/go-sql-driver/mysql"

	"seckill/internal/backend"
	"seckill/internal/fault"
)

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
		if err != nil || c.Tiers[name] != backend.Private || l.isArranged(name) {
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
	r, err := l.door()
	if err != nil {
		return nil, err
	}
	r.Point(to)
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.links == nil {
		l.links = map[linkOf]*relay{}
	}
	l.links[of] = r
	return r, nil
}

// door is a relay at a free port, which ends with the lab.
func (l *Lab) door() (*relay, error) {
	free, err := l.ports.free(1)
	if err != nil {
		return nil, err
	}
	r, err := listenRelay(free[0])
	if err != nil {
		return nil, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closers = append(l.closers, r.Close)
	return r, nil
}

// Link finds the network between a service process and a server.
func (h harmed) Link(service int, server string) (fault.Link, *fault.Lack) {
	if _, why := h.Server(server); why != nil {
		return nil, why
	}
	if h.lab.options.Links {
		h.lab.mu.Lock()
		r := h.lab.links[linkOf{serviceName(service), server}]
		h.lab.mu.Unlock()
		if r != nil {
			return networkLink{r}, nil
		}
	}
	return nil, fault.NewLack(fault.LackLink, map[string]any{"name": server},
		"service processes of this lab reach %s directly: seckill chaos starts one with links in between", server)
}

// Database is the lab's own MariaDB, as its administrator.
func (h harmed) Database() (*sql.DB, *fault.Lack) {
	if _, why := h.Server(backend.NameMySQL); why != nil {
		return nil, why
	}
	dsn, ok := h.lab.AdminDSN()
	c, err := mysql.ParseDSN(dsn)
	if !ok || err != nil {
		return nil, fault.NewLack(fault.LackMariaDB, nil, "only of MariaDB does the lab have an administrator's account: install mariadb-server")
	}
	c.DBName, c.Logger = "seckill", &mysql.NopLogger{}
	connector, err := mysql.NewConnector(c)
	if err != nil {
		return nil, fault.NewLack(fault.LackMariaDB, nil, "MariaDB's administrator: %v", err)
	}
	return sql.OpenDB(connector), nil
}

func (h harmed) Redis(ctx context.Context, command ...any) (said any, err error) {
	err = h.onRedis(ctx, func(in *backend.Instance) error {
		said, err = in.Redis.Do(ctx, command...).Result()
		return err
	})
	return said, err
}

func (h harmed) Etcd(ctx context.Context, path, body string, answer any) error {
	p, why := h.Server(backend.NameEtcd)
	if why != nil {
		return errors.New(why.String())
	}
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	return askEtcd(ctx, http.MethodPost, p.Address()+path, body, answer)
}

// networkLink is a relay as a fault sees it.
type networkLink struct{ *relay }

func (l networkLink) Hold(both bool) {
	l.Held()
	if both {
		l.relay.Hold(requests, replies)
	} else {
		l.relay.Hold(replies)
	}
}

func (l networkLink) Pass(lost bool) (held int64) {
	if lost {
		l.Drop()
	}
	l.Flow()
	return l.Held()
}
