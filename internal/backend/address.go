package backend

import (
	"cmp"
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/go-sql-driver/mysql"
	"github.com/redis/go-redis/v9"
)

// ownOptions lists the options of the MySQL driver that the program sets itself. An address cannot set them. An address
// can set other options (login, encryption, compression) and session variables.
var ownOptions = []string{"allowAllFiles", "charset", "checkConnLiveness", "clientFoundRows", "collation",
	"columnsWithAlias", "interpolateParams", "loc", "maxAllowedPacket", "multiStatements", "parseTime", "readTimeout",
	"rejectReadOnly",
	"strict", // makes the driver panic
	"timeTruncate", "timeout", "writeTimeout"}

// ParseMySQL reads user:password@tcp(host:port)/database?option=value. It drops the options that
// the program sets itself. The error does not contain the password.
func ParseMySQL(dsn string) (*mysql.Config, error) {
	last := strings.LastIndexByte(dsn, '/') + 1 // the driver, too, reads the database's name after the last slash
	database, options, _ := strings.Cut(dsn[last:], "?")
	chosen := slices.DeleteFunc(strings.Split(options, "&"), func(option string) bool {
		name, _, _ := strings.Cut(option, "=")
		return slices.Contains(ownOptions, name)
	})
	cfg, err := mysql.ParseDSN(dsn[:last] + database + "?" + strings.Join(chosen, "&"))
	if err != nil {
		return nil, fmt.Errorf("the MySQL address %q is not of the form user:password@tcp(host:port)/database: %w",
			Redact(dsn), err)
	}
	return cfg, nil
}

// ParseRedis reads host:port or redis://[user]:password@host:port; rediss:// means TLS. A database or options in a
// URL are an error, because the service sets them itself. The error does not contain the password.
func ParseRedis(address string) (*redis.Options, error) {
	text := strings.TrimSpace(address)
	plain := !strings.Contains(text, "://")
	if plain {
		text = "redis://" + text
	}
	o, err := redis.ParseURL(text)
	u, _ := url.Parse(text)
	if err != nil || o.Network != "tcp" || o.DB != 0 || u.Host == "" || u.RawQuery != "" || u.Fragment != "" ||
		o.Username != "" && o.Password == "" || plain && (u.User != nil || u.Port() == "") {
		shown := "…"
		// A list of addresses is split at commas, so a password with a comma is split, too. A text without an @ may be
		// the first part of such a password and is not shown.
		if at := strings.LastIndexByte(address, '@'); at >= 0 {
			shown += address[at:]
		}
		return nil, fmt.Errorf("the Redis address %q is not of the form host:port or "+
			"redis://[user]:password@host:port (rediss:// with TLS), without database and options: "+
			"in a password, write %%40 for @, %%2F for / and %%2C for a comma", shown)
	}
	return o, nil
}

// parseRedisList reads the addresses of a Cluster, of sentinels or of a ring. All addresses must have the same login. A
// Cluster announces the addresses of more nodes without passwords, so clients use this login for every node.
func parseRedisList(addresses []string) ([]string, *redis.Options, error) {
	var hosts []string
	var login *redis.Options
	for _, address := range addresses {
		a, err := ParseRedis(address)
		if err != nil {
			return nil, nil, err
		}
		hosts, login = append(hosts, a.Addr), cmp.Or(login, a)
		if a.Username != login.Username || a.Password != login.Password ||
			(a.TLSConfig == nil) != (login.TLSConfig == nil) {
			return nil, nil, errors.New("the Redis addresses of a Cluster, of sentinels or of a ring " +
				"must have the same user and password, and all use TLS or none")
		}
	}
	return hosts, login, nil
}

// parseEtcd reads addresses of the form http[s]://user:password@host:port or host:port. All must have the same
// login. The error does not contain the password.
func parseEtcd(addresses []string) (endpoints []string, user, password string, err error) {
	for i, address := range addresses {
		u, err := url.Parse(address)
		if err != nil || u.User == nil { // the address has the form host:port, or no login
			if strings.Contains(address, "@") {
				return nil, "", "", fmt.Errorf("the etcd address %q: a login needs the form "+
					"http://user:password@host:port, with %%40 for @ in the password",
					"…"+address[strings.LastIndexByte(address, '@'):])
			}
			u = &url.URL{User: &url.Userinfo{}}
		} else {
			address = u.Scheme + "://" + u.Host
		}
		own, _ := u.User.Password()
		if i > 0 && (u.User.Username() != user || own != password) {
			return nil, "", "", errors.New("the etcd addresses must have the same user and password")
		}
		user, password = u.User.Username(), own
		endpoints = append(endpoints, strings.TrimRight(address, "/"))
	}
	return endpoints, user, password, nil
}

var credentialsOfURL = regexp.MustCompile(`((?:^|[\s,=])(?:rediss?|https?)://)[^\s,]*@`)

// Redact removes the user and the password from every Redis and HTTP URL in text. If text has no such URL with a login,
// Redact removes the password of a MySQL address: everything between the first colon and the last @.
func Redact(text string) string {
	if redacted := credentialsOfURL.ReplaceAllString(text, "$1"); redacted != text {
		return redacted
	}
	at := strings.LastIndexByte(text, '@')
	if at < 0 {
		return text
	}
	user, _, _ := strings.Cut(text[:at], ":")
	return user + text[at:]
}

func showAddresses(addresses []string) string {
	return strings.ReplaceAll(Redact(strings.Join(addresses, ",")), "redis://", "")
}
