package backend_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/go-zookeeper/zk"

	"seckill/internal/backend"
	"seckill/internal/lab"
	"seckill/internal/lab/labtest"
)

// An authority signs certificates of servers at 127.0.0.1, and of clients.
type authority struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
	pool *x509.CertPool
}

func newAuthority(t *testing.T) *authority {
	t.Helper()
	a := &authority{pool: x509.NewCertPool()}
	pair := a.sign(t, "authority")
	a.cert, a.key = pair.Leaf, pair.PrivateKey.(*ecdsa.PrivateKey)
	a.pool.AddCert(a.cert)
	return a
}

func (a *authority) sign(t *testing.T, name string) tls.Certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	serial, err := rand.Int(rand.Reader, big.NewInt(1<<62))
	if err != nil {
		t.Fatal(err)
	}
	like := &x509.Certificate{SerialNumber: serial, Subject: pkix.Name{CommonName: name},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), BasicConstraintsValid: true,
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: a.cert == nil,
		KeyUsage:    x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth}}
	parent, signer := a.cert, a.key
	if parent == nil {
		parent, signer = like, key
	}
	der, err := x509.CreateCertificate(rand.Reader, like, parent, &key.PublicKey, signer)
	if err != nil {
		t.Fatal(err)
	}
	leaf, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key, Leaf: leaf}
}

// server takes clients with our certificate only; client has one.
func (a *authority) server(t *testing.T) *tls.Config {
	return &tls.Config{Certificates: []tls.Certificate{a.sign(t, "server")}, ClientCAs: a.pool,
		ClientAuth: tls.RequireAndVerifyClientCert, NextProtos: []string{"h2"}}
}

func (a *authority) client(t *testing.T) *tls.Config {
	return &tls.Config{RootCAs: a.pool, Certificates: []tls.Certificate{a.sign(t, "client")}}
}

func (a *authority) files(t *testing.T) lab.Certs {
	t.Helper()
	pair, folder := a.sign(t, "server"), t.TempDir()
	key, err := x509.MarshalECPrivateKey(pair.PrivateKey.(*ecdsa.PrivateKey))
	if err != nil {
		t.Fatal(err)
	}
	write := func(name, kind string, der []byte) string {
		path := filepath.Join(folder, name)
		if err := os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	return lab.Certs{CA: write("ca.pem", "CERTIFICATE", a.cert.Raw), Cert: write("cert.pem", "CERTIFICATE", pair.Certificate[0]),
		Key: write("key.pem", "EC PRIVATE KEY", key)}
}

// inFront speaks TLS in front of a server that does not, until the test ends.
func inFront(t *testing.T, config *tls.Config, of string) string {
	t.Helper()
	l, err := tls.Listen("tcp", "127.0.0.1:0", config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				to, err := net.Dial("tcp", of)
				if err != nil {
					return
				}
				defer to.Close()
				go func() { io.Copy(to, c); to.Close() }()
				io.Copy(c, to)
			}()
		}
	}()
	return l.Addr().String()
}

func opens(t *testing.T, c backend.Config) (*backend.Instance, error) {
	t.Helper()
	in, err := backend.Open(t.Context(), c)
	if err == nil {
		t.Cleanup(func() { in.Close() })
	}
	return in, err
}

// Every backend is reached by TLS with a client certificate; not without one, and
// not where another authority has signed. No error has the password.
func TestEveryBackendByTLS(t *testing.T) {
	ours, other := newAuthority(t), newAuthority(t)
	const secret = "hunter2-secret"
	all := labtest.Config(t, backend.Redis, backend.RedisQuorum, backend.ZooKeeper, backend.Etcd)
	plain, err := backend.ParseRedis(all.RedisAddrs[0])
	if err != nil {
		t.Fatal(err)
	}
	nodes := make([]string, len(all.RedlockAddrs))
	for i, address := range all.RedlockAddrs {
		node, err := backend.ParseRedis(address)
		if err != nil {
			t.Fatal(err)
		}
		nodes[i] = inFront(t, ours.server(t), node.Host)
	}
	database, err := lab.Start(t.Context(), lab.Options{Host: labtest.Host(), Backends: []string{backend.NameMySQL}, MySQLCerts: ours.files(t)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { database.Stop(context.Background()) })
	dsn, err := mysql.ParseDSN(database.Config().MySQLDSN)
	if err != nil {
		t.Fatal(err)
	}
	user, password := dsn.User, dsn.Passwd
	dsn.User, dsn.Passwd = "nobody", secret
	for name, c := range map[string]struct {
		at             backend.Config
		user, password string
		anyClient      bool // the server takes clients without a certificate
		encrypted      func(*backend.Instance) error
	}{
		backend.NameMySQL: {backend.Config{MySQLDSN: dsn.FormatDSN()}, user, password, true, func(in *backend.Instance) error {
			var said struct{ Value string }
			err := in.DB.Raw("SHOW STATUS LIKE 'Ssl_cipher'").Scan(&said).Error
			if err == nil && said.Value == "" {
				err = errors.New("the session has no cipher")
			}
			return err
		}},
		backend.NameRedis:     {backend.Config{RedisAddrs: []string{inFront(t, ours.server(t), plain.Host)}}, "", plain.Password, false, nil},
		backend.NameRedlock:   {backend.Config{RedlockAddrs: nodes}, "", plain.Password, false, nil},
		backend.NameZooKeeper: {backend.Config{ZooKeeperAddrs: []string{inFront(t, ours.server(t), all.ZooKeeperAddrs[0])}}, "", "", false, nil},
		backend.NameEtcd:      {backend.Config{EtcdEndpoints: []string{inFront(t, ours.server(t), all.EtcdEndpoints[0])}}, "", "", false, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			try := func(what string, config *tls.Config, password string) error {
				at := c.at
				at.DialTimeout, at.RedisTimeout = 20*time.Second, 20*time.Second
				at.Logins = map[string]backend.Login{name: {User: c.user, Password: password, TLS: config}}
				if shown := fmt.Sprintf("%v %+v %#v", at.Logins, at.Logins, at.Logins); password != "" && strings.Contains(shown, password) {
					t.Errorf("the password is printed: %s", shown)
				}
				in, err := opens(t, at)
				if err == nil && c.encrypted != nil {
					err = c.encrypted(in)
				}
				if err != nil && (strings.Contains(err.Error(), secret) || password != "" && strings.Contains(err.Error(), password)) {
					t.Errorf("%s: the error has the password: %v", what, err)
				}
				return err
			}
			if err := try("our certificate", ours.client(t), c.password); err != nil {
				t.Errorf("with our certificate: %v", err)
			}
			if err := try("another authority", &tls.Config{RootCAs: other.pool, Certificates: []tls.Certificate{ours.sign(t, "client")}}, c.password); err == nil {
				t.Error("a server that another authority has signed is trusted")
			}
			if err := try("no certificate", &tls.Config{RootCAs: ours.pool}, c.password); err == nil && !c.anyClient {
				t.Error("it works without a client certificate: the server does not ask")
			}
			if c.password != "" {
				if err := try("a wrong password", ours.client(t), "wrong-password"); err == nil {
					t.Error("it works with a wrong password")
				}
			}
		})
	}
}

// With a login, nodes of ZooKeeper are its alone.
func TestNodesOfALogin(t *testing.T) {
	at := labtest.Config(t, backend.ZooKeeper)
	stranger, err := opens(t, at)
	if err != nil {
		t.Fatal(err)
	}
	at.Logins = map[string]backend.Login{backend.NameZooKeeper: {User: "shop", Password: "pw"}}
	in, err := opens(t, at)
	if err != nil {
		t.Fatal(err)
	}
	const path = "/of-a-login"
	if _, err := in.ZooKeeper.Create(t.Context(), path, []byte("x"), zk.FlagEphemeral); err != nil {
		t.Fatal(err)
	}
	if _, _, err := in.ZooKeeper.Get(t.Context(), path); err != nil {
		t.Errorf("its owner reads it: %v", err)
	}
	if _, _, err := stranger.ZooKeeper.Get(t.Context(), path); !errors.Is(err, zk.ErrNoAuth) {
		t.Errorf("a stranger reads it: %v, want %v", err, zk.ErrNoAuth)
	}
}
