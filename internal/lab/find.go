package lab

import (
	"cmp"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"

	"seckill/internal/backend"
)

// A Program is a server program of this machine, or the lack of one.
type Program struct {
	Name string // what it is, to people
	Path string // of the program, or of ZooKeeper's jar; empty: not found
	// Java and Classpath run ZooKeeper, which is no program by itself.
	Java, Classpath string

	// Get is the command that installs it.
	Get string

	ask string // what it is asked for its version with; "": --version

	missing string // what was looked for
}

const getServers = "seckill deps"

// Found: it is there.
func (p Program) Found() bool { return p.Path != "" }

// Missing says what was not found and how to get it.
func (p Program) Missing() string {
	if p.Found() {
		return ""
	}
	return "no " + p.missing + " was found on this machine: run " + p.Get
}

// Programs are the servers of this machine.
type Programs struct {
	MySQL, Redis, ZooKeeper, Etcd Program
}

// For is the program that a backend runs on.
func (p Programs) For(backendName string) (Program, bool) {
	program, known := map[string]Program{
		backend.NameMySQL:     p.MySQL,
		backend.NameRedis:     p.Redis,
		backend.NameRedlock:   p.Redis,
		backend.NameZooKeeper: p.ZooKeeper,
		backend.NameEtcd:      p.Etcd,
	}[backendName]
	return program, known
}

// Find looks on the PATH, and where systems put servers that are not on it.
func Find() Programs { return search(systemFolders()).programs() }

// search are folders of programs.
type search []string

func (s search) programs() Programs {
	return Programs{
		MySQL:     s.program("MariaDB or MySQL", "mariadbd", "mysqld"),
		Redis:     s.program("Redis", "redis-server", "valkey-server"),
		ZooKeeper: s.zookeeper(),
		Etcd:      s.program("etcd", "etcd"),
	}
}

func systemFolders() search {
	folders := filepath.SplitList(os.Getenv("PATH"))
	folders = append(folders, "/usr/sbin", "/usr/local/sbin", "/usr/local/bin", "/usr/bin", "/usr/libexec",
		"/opt/homebrew/bin", "/opt/homebrew/sbin", "/usr/local/mysql/bin")
	for _, pattern := range []string{ // what Homebrew and MacPorts keep off the PATH
		"/opt/homebrew/opt/{}*/bin", "/usr/local/opt/{}*/bin", "/opt/local/lib/{}*/bin"} {
		for _, name := range []string{"mariadb", "mysql", "redis", "valkey", "etcd"} {
			kegs, _ := filepath.Glob(strings.ReplaceAll(pattern, "{}", name))
			folders = append(folders, kegs...)
		}
	}
	return folders
}

// program finds the first of several names.
func (s search) program(what string, names ...string) Program {
	p := Program{Name: what, Get: getServers, missing: strings.Join(names[:min(2, len(names))], " or ")}
	for _, name := range names {
		if path, found := s.find(name); found {
			p.Path = path
			return p
		}
	}
	return p
}

func (s search) find(name string) (path string, found bool) {
	for _, folder := range s {
		if !filepath.IsAbs(folder) {
			continue // of the PATH: it would depend on where we are
		}
		path := filepath.Join(folder, name)
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() && info.Mode().Perm()&0o111 != 0 {
			return path, true
		}
	}
	return "", false
}

var versionNumber = regexp.MustCompile(`(?:Ver |v=|Version: |version:? |Chromium |Chrome |gcc \([^)]*\) )(\d+(?:\.\d+)+)`)

// Version asks the program itself, without starting a server.
func (p Program) Version(ctx context.Context) (string, error) {
	if !p.Found() {
		return "", errors.New(p.Missing())
	}
	if p.Classpath != "" {
		return zookeeperJarVersion(p.Path), nil
	}
	ask := cmp.Or(p.ask, "--version")
	said, err := exec.CommandContext(ctx, p.Path, ask).Output()
	if err != nil {
		return "", errors.New(p.Path + " " + ask + ": " + err.Error())
	}
	name := p.Name
	switch {
	case strings.Contains(string(said), "MariaDB"):
		name = "MariaDB"
	case strings.Contains(string(said), "mysqld"):
		name = "MySQL"
	case strings.Contains(string(said), "Valkey"):
		name = "Valkey"
	}
	if number := versionNumber.FindSubmatch(said); number != nil {
		return name + " " + string(number[1]), nil
	}
	return name, nil
}
