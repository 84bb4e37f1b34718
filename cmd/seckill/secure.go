package main

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"seckill/internal/backend"
)

// SecureFlags say how the service logs in to each backend, and whom it trusts
// there. Passwords come from files or the environment: every user of the machine
// can read flags.
type SecureFlags struct {
	MySQL     LoginFlags `embed:"" prefix:"mysql-" envprefix:"SECKILL_MYSQL_"`
	Redis     LoginFlags `embed:"" prefix:"redis-" envprefix:"SECKILL_REDIS_"`
	Redlock   LoginFlags `embed:"" prefix:"redlock-" envprefix:"SECKILL_REDLOCK_"`
	ZooKeeper LoginFlags `embed:"" prefix:"zookeeper-" envprefix:"SECKILL_ZOOKEEPER_"`
	Etcd      LoginFlags `embed:"" prefix:"etcd-" envprefix:"SECKILL_ETCD_"`

	DialTimeout  time.Duration `default:"3s" env:"SECKILL_DIAL_TIMEOUT" help:"How long a connection to a backend may take to open."`
	RedisTimeout time.Duration `placeholder:"3s" env:"SECKILL_REDIS_TIMEOUT" help:"How long Redis may take to answer. Without it 3s, and 1s for each node of a quorum."`
	RedisConns   int           `default:"64" env:"SECKILL_REDIS_CONNS" help:"Most connections to each Redis."`
}

// LoginFlags are those of one backend.
type LoginFlags struct {
	User         string `env:"USER" placeholder:"NAME" help:"User, instead of the address's. The password is in …_PASSWORD of the environment, or in a file."`
	PasswordFile string `env:"PASSWORD_FILE" placeholder:"FILE" help:"File with the password."`
	TLS          bool   `name:"tls" env:"TLS" help:"Use TLS, and trust the system's authorities."`
	CA           string `name:"ca" env:"CA" placeholder:"FILE" help:"Use TLS, and trust these authorities (PEM) alone."`
	Cert         string `env:"CERT" placeholder:"FILE" help:"Client certificate (PEM)."`
	Key          string `env:"KEY" placeholder:"FILE" help:"Its key (PEM), readable by you alone."`
}

func (f *SecureFlags) all() []namedLogin {
	return []namedLogin{{backend.NameMySQL, "mysql", &f.MySQL}, {backend.NameRedis, "redis", &f.Redis},
		{backend.NameRedlock, "redlock", &f.Redlock}, {backend.NameZooKeeper, "zookeeper", &f.ZooKeeper},
		{backend.NameEtcd, "etcd", &f.Etcd}}
}

type namedLogin struct {
	backend, prefix string
	*LoginFlags
}

func (f *SecureFlags) check() error {
	var errs []error
	for _, l := range f.all() {
		if (l.Cert == "") != (l.Key == "") {
			errs = append(errs, fmt.Errorf("--%[1]s-cert and --%[1]s-key belong together: give both", l.prefix))
		}
		if l.PasswordFile != "" && l.password() != "" {
			errs = append(errs, fmt.Errorf("--%s-password-file and %s are both given: give one of them", l.prefix, l.variable()))
		}
	}
	switch {
	case f.DialTimeout <= 0:
		errs = append(errs, errors.New("--dial-timeout must be longer than 0, such as 3s"))
	case f.RedisTimeout < 0:
		errs = append(errs, errors.New("--redis-timeout must be longer than 0, such as 3s"))
	case f.RedisConns < 1:
		errs = append(errs, errors.New("--redis-conns must be at least 1"))
	}
	return errors.Join(errs...)
}

// variable is where a password may be. It is no flag: flags can be read by others.
func (l namedLogin) variable() string { return "SECKILL_" + strings.ToUpper(l.prefix) + "_PASSWORD" }

func (l namedLogin) password() string { return os.Getenv(l.variable()) }

// into reads the files and adds what they say to c.
func (f *SecureFlags) into(c *backend.Config) error {
	c.DialTimeout, c.RedisTimeout, c.RedisConns = f.DialTimeout, f.RedisTimeout, f.RedisConns
	c.Logins = map[string]backend.Login{}
	for _, l := range f.all() {
		kind, _ := backend.KindNamed(l.backend)
		if *l.LoginFlags != (LoginFlags{}) && len(kind.In(*c)) == 0 {
			return fmt.Errorf("--%s-…: it is said how to log in to %s, and not where it is: give %s too", l.prefix, kind.Title, kind.Addresses[0].Flag)
		}
		login, err := l.login()
		if err != nil {
			return err
		}
		c.Logins[l.backend] = login
	}
	return nil
}

func (l namedLogin) login() (login backend.Login, err error) {
	login.User, login.Password = l.User, l.password()
	if l.PasswordFile != "" {
		flag := "--" + l.prefix + "-password-file"
		text, err := readSecret(flag, l.PasswordFile)
		if err != nil {
			return login, err
		}
		if login.Password = strings.TrimRight(string(text), "\r\n"); login.Password == "" {
			return login, fmt.Errorf("%s: %s is empty", flag, l.PasswordFile)
		}
	}
	if l.TLS || l.CA != "" || l.Cert != "" {
		login.TLS, err = l.config()
	}
	return login, err
}

func (l namedLogin) config() (*tls.Config, error) {
	config := &tls.Config{MinVersion: tls.VersionTLS12}
	if l.CA != "" {
		text, err := os.ReadFile(l.CA)
		if err != nil {
			return nil, fmt.Errorf("--%s-ca: %w", l.prefix, err)
		}
		config.RootCAs = x509.NewCertPool()
		if !config.RootCAs.AppendCertsFromPEM(text) {
			return nil, fmt.Errorf("--%s-ca: there is no certificate in %s: it must be PEM", l.prefix, l.CA)
		}
	}
	if l.Cert == "" {
		return config, nil
	}
	cert, err := os.ReadFile(l.Cert)
	if err != nil {
		return nil, fmt.Errorf("--%s-cert: %w", l.prefix, err)
	}
	key, err := readSecret("--"+l.prefix+"-key", l.Key)
	if err != nil {
		return nil, err
	}
	pair, err := tls.X509KeyPair(cert, key)
	if err != nil {
		return nil, fmt.Errorf("--%s-cert %s and --%s-key %s: %w", l.prefix, l.Cert, l.prefix, l.Key, err)
	}
	config.Certificates = []tls.Certificate{pair}
	return config, nil
}
