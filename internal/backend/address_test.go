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
	"io"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"

	"seckill/internal/backend"
	"seckill/internal/lab"
	"seckill/internal/lab/labtest"
)

func TestParseRedis(t *testing.T) {
	type login struct {
		host, user, password string
		tls                  bool
	}
	for address, want := range map[string]login{
		"127.0.0.1:6379":                  {host: "127.0.0.1:6379"},
		" redis.local:1 ":                 {host: "redis.local:1"},
		"redis://shop:p%40%2F%2C@[::1]:1": {host: "[::1]:1", user: "shop", password: "p@/,"},
		"redis://host":                    {host: "host:6379"},
		"redis://:pw@host/":               {host: "host:6379", password: "pw"},
		"rediss://:pw@host:1":             {host: "host:1", password: "pw", tls: true},
	} {
		got, err := backend.ParseRedis(address)
		if err != nil || (login{got.Addr, got.Username, got.Password, got.TLSConfig != nil}) != want {
			t.Errorf("%q: %+v, %v; want %+v", address, got, err, want)
		}
	}
	for _, address := range []string{":hidden@host:1", "unix://:hidden@host:1", "redis://:hidden@host:1/3",
		"redis://:hidden@host:1?max_retries=9", "redis://:hid/den@host:1",
		"redis://:hid", // the first part of a password with a comma
		"redis://hidden@host:1", "redis://:hidden@"} {
		_, err := backend.ParseRedis(address)
		if err == nil || !strings.Contains(err.Error(), "%2F for /") || strings.Contains(err.Error(), "hid") {
			t.Errorf("%q: %v; want the expected form, without the password", address, err)
		}
	}
}

func TestRedact(t *testing.T) {
	for text, want := range map[string]string{
		"root:secret@tcp(127.0.0.1:1)/x":                         "root@tcp(127.0.0.1:1)/x",
		"root:s@e:cret@tcp(h:1)/x":                               "root@tcp(h:1)/x",
		"root@tcp(127.0.0.1:1)/x":                                "root@tcp(127.0.0.1:1)/x",
		"127.0.0.1:1":                                            "127.0.0.1:1",
		"redis://:secret@h:1":                                    "redis://h:1",
		"--redis-addrs=redis://:secret@h:1,redis://u:secret@h:2": "--redis-addrs=redis://h:1,redis://h:2",
		"http://u:secret@h:2379":                                 "http://h:2379",
	} {
		labtest.Same(t, backend.Redact(text), want, "%q", text)
	}
}

// The error for an unusable configuration names the cause and contains no password. No server listens at any of the
// addresses.
func TestUnusableConfigurations(t *testing.T) {
	one, two := []string{"127.0.0.1:1"}, []string{"127.0.0.1:1", "127.0.0.1:2"}
	apart := []string{"127.0.0.1:1", "redis://:secret@127.0.0.1:2"}
	login := []string{"redis://:secret@127.0.0.1:1", "redis://:secret@127.0.0.1:2"}
	for want, c := range map[string]backend.Config{
		"--mysql-dsn and --sqlite-path exclude": {MySQLDSN: "u:secret@tcp(127.0.0.1:1)/x", SQLitePath: "x"},
		"mysql at u@tcp(127.0.0.1:1)":           {MySQLDSN: "u:secret@tcp(127.0.0.1:1)/x"},
		"redis at 127.0.0.1:1":                  {RedisAddrs: one},
		"same user and password": {RedisAddrs: []string{"redis://:secret@127.0.0.1:1",
			"redis://:secret-too@127.0.0.1:2"}},

		"--redis-addrs and --redis-sentinels exclude": {RedisAddrs: one, RedisSentinels: two},
		"of sentinels or of a ring must have the":     {RedisSentinels: apart},
		"redis at 127.0.0.1:1,127.0.0.1:2":            {RedisSentinels: login},

		"--redis-addrs and --redis-ring exclude":  {RedisAddrs: one, RedisRing: two},
		"or of a ring must have the same user":    {RedisRing: apart},
		"cannot be used: the shard at 127.0.0.1:": {RedisRing: login},

		"redlock at 127.0.0.1:1,127.0.0.1:2":                               {RedlockAddrs: login},
		"etcd at 127.0.0.1:1":                                              {EtcdEndpoints: one},
		"etcd at http://127.0.0.1:1/ cannot be used: dial tcp 127.0.0.1:1": {EtcdEndpoints: []string{"http://127.0.0.1:1/"}},
		"http://user:password@host:port":                                   {EtcdEndpoints: []string{"root:secret@host:1"}},
		"with %40 for @ in the password":                                   {EtcdEndpoints: []string{"http://root:sec/ret@host:1"}},
		"etcd addresses must have the same user and":                       {EtcdEndpoints: []string{"http://root:secret@host:1", "http://root:secret-2@other:1"}},
	} {
		_, err := open(t, c)
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "sec") {
			t.Errorf("want an error with %q and no password; got %v", want, err)
		}
	}
}

// newCertificate returns a self-signed certificate for 127.0.0.1, and the names of its files.
func newCertificate(t *testing.T) (pair tls.Certificate, cert, private string) {
	t.Helper()
	key := labtest.Value(ecdsa.GenerateKey(elliptic.P256(), rand.Reader)).Must(t)
	template := &x509.Certificate{SerialNumber: big.NewInt(time.Now().UnixNano()),
		Subject: pkix.Name{CommonName: "server"}, NotBefore: time.Now().Add(-time.Hour),
		NotAfter: time.Now().Add(time.Hour), BasicConstraintsValid: true, IsCA: true,
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}}
	der := labtest.Value(x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)).Must(t)
	secret := labtest.Value(x509.MarshalECPrivateKey(key)).Must(t)
	folder := t.TempDir()
	write := func(name, kind string, der []byte) string {
		path := filepath.Join(folder, name)
		labtest.Must(t, os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600))
		return path
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key},
		write("cert.pem", "CERTIFICATE", der), write("key.pem", "EC PRIVATE KEY", secret)
}

// startTLSProxy returns the address of a proxy that accepts TLS and forwards to a server without TLS, until the test
// ends.
func startTLSProxy(t *testing.T, pair tls.Certificate, server string) string {
	t.Helper()
	config := &tls.Config{Certificates: []tls.Certificate{pair}, NextProtos: []string{"h2"}}
	l := labtest.Value(tls.Listen("tcp", "127.0.0.1:0", config)).Must(t)
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				to, err := net.Dial("tcp", server)
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

func open(t *testing.T, c backend.Config) (*backend.Instance, error) {
	t.Helper()
	in, err := backend.Open(t.Context(), c)
	if err == nil {
		t.Cleanup(func() { in.Close() })
	}
	return in, err
}

// An address contains the login and selects TLS. Open fails with a wrong password, and with a certificate of an
// authority that the system does not trust. No error contains the password.
func TestLoginAndTLS(t *testing.T) {
	trusted, cert, key := newCertificate(t)
	stranger, _, _ := newCertificate(t)
	t.Setenv("SSL_CERT_FILE", cert) // the trusted authorities; a process reads this file only once
	const secret = "hunter2-secret"

	programs := map[lab.Tool]lab.Program{lab.MariaDB: labtest.MySQLWith(t, "--ssl-cert='"+cert+"' --ssl-key='"+key+"'")}
	for _, tool := range []lab.Tool{lab.Redis, lab.Etcd} {
		programs[tool] = lab.NewSearch(os.Getenv).Find(tool)
	}
	own := labtest.Value(lab.Start(t.Context(), lab.Options{Host: labtest.Host(), Programs: programs,
		Backends: []string{backend.NameMySQL, backend.NameRedis, backend.NameEtcd}})).Must(t)
	t.Cleanup(func() { own.Stop(context.Background()) })
	at := own.Config()
	dsn := labtest.Value(mysql.ParseDSN(at.MySQLDSN)).Must(t)
	redis := labtest.Value(backend.ParseRedis(at.RedisAddrs[0])).Must(t)
	etcd := strings.TrimPrefix(at.EtcdEndpoints[0], "http://")
	requireLogin(t, etcd, secret)

	mysqlAt := func(password string) backend.Config {
		return backend.Config{MySQLDSN: dsn.User + ":" + password + "@tcp(" + dsn.Addr + ")/seckill?tls=true"}
	}
	redisAt := func(password string, pair tls.Certificate) backend.Config {
		return backend.Config{RedisAddrs: []string{"rediss://:" + password + "@" + startTLSProxy(t, pair, redis.Addr)}}
	}
	etcdAt := func(password string, pair tls.Certificate) backend.Config {
		return backend.Config{EtcdEndpoints: []string{"https://root:" + password + "@" + startTLSProxy(t, pair, etcd)}}
	}
	const wrong = "hunter2-wrong"
	for name, c := range map[string]struct{ right, login, authority backend.Config }{
		backend.NameMySQL: {mysqlAt(dsn.Passwd), mysqlAt(wrong), backend.Config{}},
		backend.NameRedis: {redisAt(redis.Password, trusted), redisAt(wrong, trusted),
			redisAt(redis.Password, stranger)},
		backend.NameEtcd: {etcdAt(secret, trusted), etcdAt(wrong, trusted), etcdAt(secret, stranger)},
	} {
		in, err := open(t, c.right)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if in.DB != nil {
			var cipher struct{ Value string }
			if err := in.DB.Raw("SHOW STATUS LIKE 'Ssl_cipher'").Scan(&cipher).Error; err != nil || cipher.Value == "" {
				t.Errorf("%s: the session has no cipher: %v", name, err)
			}
		}
		for what, c := range map[string]backend.Config{"a wrong password": c.login,
			"an untrusted authority": c.authority} {
			if what != "a wrong password" && name == backend.NameMySQL {
				continue // checking the server's certificate is the work of the MySQL driver, not of this package
			}
			_, err := open(t, c)
			if err == nil {
				t.Errorf("%s opens with %s", name, what)
			} else if text := err.Error(); strings.Contains(text, "hunter2") ||
				strings.Contains(text, redis.Password) || strings.Contains(text, dsn.Passwd) {
				t.Errorf("%s with %s: the error contains the password: %v", name, what, err)
			}
		}
	}
}

// requireLogin makes an etcd server require the login of its user root.
func requireLogin(t *testing.T, etcd, password string) {
	t.Helper()
	in := labtest.Value(open(t, backend.Config{EtcdEndpoints: []string{etcd}})).Must(t)
	ctx := t.Context()
	_, err := in.Etcd.UserAdd(ctx, "root", password)
	_, err2 := in.Etcd.UserGrantRole(ctx, "root", "root")
	_, err3 := in.Etcd.AuthEnable(ctx)
	labtest.Must(t, errors.Join(err, err2, err3))
}
