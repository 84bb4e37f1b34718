package packages

import (
	"errors"
	"slices"
	"strings"
	"testing"
)

var all = []Tool{MariaDB, Redis, Etcd, ZooKeeper, Java, Browser, TypeScript, Promtool}

// on is a situation on a system with one package manager, as root, where
// everything is missing and the manager knows its first choices.
func on(program string) Situation {
	return Situation{
		Missing: all, Root: program != "brew",
		OnPath: func(p string) bool { return p == program },
		Knows:  func([]string) bool { return true },
	}
}

func (s Situation) with(change func(*Situation)) Situation {
	change(&s)
	return s
}

// knowsOnly are the packages in a system's lists.
func knowsOnly(names ...string) func([]string) bool {
	return func(question []string) bool { return slices.Contains(names, question[len(question)-1]) }
}

func TestDecide(t *testing.T) {
	user := func(s *Situation) { s.Root = false }
	for _, c := range []struct {
		name     string
		s        Situation
		packages string
		command  string // how the installing command begins
		byHand   []Tool
		stale    bool
		ask      bool
		err      error
	}{
		{name: "nothing is missing", s: on("apt-get").with(func(s *Situation) { s.Missing = nil })},
		{name: "apt", s: on("apt-get"), command: "sh -c",
			packages: "mariadb-server-core redis-server etcd-server libzookeeper-java default-jre-headless chromium node-typescript prometheus"},
		{name: "apt, one thing", s: on("apt-get").with(func(s *Situation) { s.Missing = []Tool{Etcd} }),
			command: "sh -c", packages: "etcd-server"},
		{name: "apt, an older release", s: on("apt-get").with(func(s *Situation) {
			s.Missing = []Tool{MariaDB}
			s.Knows = knowsOnly("mariadb-server-core-10.6")
		}), command: "sh -c", packages: "mariadb-server-core-10.6"},
		{name: "apt with empty lists", s: on("apt-get").with(func(s *Situation) { s.Knows = knowsOnly() }),
			byHand: all, stale: true},
		{name: "apt, a user with sudo", s: on("apt-get").with(user).with(func(s *Situation) { s.Sudo = SudoFree }),
			command:  "sudo -n sh -c",
			packages: "mariadb-server-core redis-server etcd-server libzookeeper-java default-jre-headless chromium node-typescript prometheus"},
		{name: "apt, a user at a terminal", s: on("apt-get").with(user).with(func(s *Situation) {
			s.Missing, s.Sudo, s.Terminal = []Tool{Redis}, SudoAsks, true
		}), command: "sudo sh -c", packages: "redis-server", ask: true},
		{name: "apt, a user at a terminal who said yes", s: on("apt-get").with(user).with(func(s *Situation) {
			s.Missing, s.Sudo, s.Terminal, s.Yes = []Tool{Redis}, SudoAsks, true, true
		}), command: "sudo sh -c", packages: "redis-server"},
		{name: "apt, nobody there for sudo's question", s: on("apt-get").with(user).with(func(s *Situation) { s.Sudo = SudoAsks }),
			byHand: all, err: ErrMayNot},
		{name: "apt, no sudo", s: on("apt-get").with(user).with(func(s *Situation) { s.Terminal = true }),
			byHand: all, err: ErrMayNot},
		{name: "dnf", s: on("dnf"), command: "dnf install -y", byHand: []Tool{ZooKeeper, TypeScript, Promtool},
			packages: "mariadb-server redis etcd java-latest-openjdk-headless chromium"},
		{name: "dnf without Redis", s: on("dnf").with(func(s *Situation) {
			s.Missing, s.Knows = []Tool{Redis}, knowsOnly("valkey")
		}), command: "dnf install -y", packages: "valkey"},
		{name: "pacman", s: on("pacman"), command: "pacman -S --needed --noconfirm", byHand: []Tool{ZooKeeper},
			packages: "mariadb valkey etcd jre-openjdk-headless chromium typescript prometheus"},
		{name: "apk", s: on("apk"), command: "apk add", byHand: []Tool{ZooKeeper},
			packages: "mariadb redis etcd openjdk21-jre-headless chromium typescript prometheus"},
		{name: "apk without etcd, lists fetched", s: on("apk").with(func(s *Situation) {
			s.Missing, s.Knows = []Tool{Etcd, MariaDB}, knowsOnly("mariadb")
		}), command: "apk add", packages: "mariadb", byHand: []Tool{Etcd}, stale: true},
		{name: "Homebrew", s: on("brew"), command: "brew install",
			packages: "mariadb redis etcd zookeeper openjdk chromium typescript prometheus"},
		{name: "Homebrew at a terminal", s: on("brew").with(func(s *Situation) { s.Missing, s.Terminal = []Tool{Etcd}, true }),
			command: "brew install", packages: "etcd", ask: true},
		{name: "Homebrew as root", s: on("brew").with(func(s *Situation) { s.Root = true }), byHand: all, err: ErrBrewAsRoot},
		{name: "no manager", s: on(""), byHand: all, err: ErrNoManager},
	} {
		p, err := Decide(c.s)
		if !errors.Is(err, c.err) {
			t.Errorf("%s: error %v, want %v", c.name, err, c.err)
		}
		if got := strings.Join(p.Packages, " "); got != c.packages {
			t.Errorf("%s: packages %q, want %q", c.name, got, c.packages)
		}
		command := strings.Join(p.Install, " ")
		if !strings.HasPrefix(command, c.command) || !strings.HasSuffix(command, c.packages) || (c.command == "") != (p.Install == nil) {
			t.Errorf("%s: command %q, want %s … %s", c.name, command, c.command, c.packages)
		}
		var byHand []Tool
		for _, a := range p.ByHand {
			byHand = append(byHand, a.Tool)
			if a.How == "" {
				t.Errorf("%s: no advice for %s", c.name, a.Tool)
			}
		}
		if !slices.Equal(byHand, c.byHand) {
			t.Errorf("%s: by hand %v, want %v", c.name, byHand, c.byHand)
		}
		if p.Stale != c.stale || p.Ask != c.ask {
			t.Errorf("%s: stale %v and ask %v, want %v and %v", c.name, p.Stale, p.Ask, c.stale, c.ask)
		}
		if p.Stale && p.Refresh == nil {
			t.Errorf("%s: stale lists, and no command to refresh them", c.name)
		}
	}
}

// The tables answer for themselves: every manager has what it can have.
func TestManagers(t *testing.T) {
	byHand := map[Tool][]string{ZooKeeper: {"dnf", "pacman", "apk"}, TypeScript: {"dnf"}, Galera: {"apk", "brew"}, Promtool: {"dnf"}}
	for _, m := range managers {
		if len(m.install) == 0 || len(m.knows) == 0 {
			t.Errorf("%s lacks a command", m.name)
		}
		for _, need := range append(slices.Clone(all), Galera) {
			if has := len(m.packages[need]) > 0; has == slices.Contains(byHand[need], m.name) {
				t.Errorf("%s has a package for %s: %v", m.name, need, has)
			}
		}
	}
}

func TestShell(t *testing.T) {
	got := Shell([]string{"sh", "-c", "echo 'a' $b", "", "plain-1.0"})
	if want := `sh -c 'echo '\''a'\'' $b' '' plain-1.0`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
