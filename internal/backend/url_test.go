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

// newCertificate returns a self-signed certificate for 127.0.0.1, and the names of its files.
func newCertificate(t *testing.T) (pair tls.Certificate, cert, private string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	labtest.Must(t, err)
	template := &x509.Certificate{SerialNumber: big.NewInt(time.Now().UnixNano()), Subject: pkix.Name{CommonName: "server"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), BasicConstraintsValid: true, IsCA: true,
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	labtest.Must(t, err)
	secret, err := x509.MarshalECPrivateKey(key)
	labtest.Must(t, err)
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
	l, err := tls.Listen("tcp", "127.0.0.1:0", config)
	labtest.Must(t, err)
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
	t.Setenv("SSL_CERT_FILE", cert) // the file of the system's authorities; a process reads it only once
	const secret = "hunter2-secret"

	programs := map[lab.Tool]lab.Program{lab.MariaDB: labtest.MySQLWith(t, "--ssl-cert='"+cert+"' --ssl-key='"+key+"'")}
	for _, tool := range []lab.Tool{lab.Redis, lab.Etcd} {
		programs[tool] = lab.NewSearch(os.Getenv).Find(tool)
	}
	own, err := lab.Start(t.Context(), lab.Options{Host: labtest.Host(), Programs: programs,
		Backends: []string{backend.NameMySQL, backend.NameRedis, backend.NameEtcd}})
	labtest.Must(t, err)
	t.Cleanup(func() { own.Stop(context.Background()) })
	at := own.Config()
	dsn, err := mysql.ParseDSN(at.MySQLDSN)
	labtest.Must(t, err)
	redis, err := backend.ParseRedis(at.RedisAddrs[0])
	labtest.Must(t, err)
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
		backend.NameRedis: {redisAt(redis.Password, trusted), redisAt(wrong, trusted), redisAt(redis.Password, stranger)},
		backend.NameEtcd:  {etcdAt(secret, trusted), etcdAt(wrong, trusted), etcdAt(secret, stranger)},
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
		for what, c := range map[string]backend.Config{"a wrong password": c.login, "an untrusted authority": c.authority} {
			if what != "a wrong password" && name == backend.NameMySQL {
				continue // the MySQL driver makes this check itself
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
	in, err := open(t, backend.Config{EtcdEndpoints: []string{etcd}})
	labtest.Must(t, err)
	ctx := t.Context()
	_, err = in.Etcd.UserAdd(ctx, "root", password)
	_, err2 := in.Etcd.UserGrantRole(ctx, "root", "root")
	_, err3 := in.Etcd.AuthEnable(ctx)
	labtest.Must(t, errors.Join(err, err2, err3))
}
