package lab

import (
	"errors"
	"slices"
	"strings"
)

// A Situation is what decides how something is installed.
type Situation struct {
	Missing  []Need
	OnPath   func(program string) bool
	Knows    func(question []string) bool // runs a manager's question about a package
	Root     bool
	Sudo     Sudo
	Terminal bool // somebody is there who can answer
	Yes      bool // and has
}

// Sudo says whether sudo is there.
type Sudo int

const (
	NoSudo Sudo = iota
	SudoAsks
	SudoFree // it wants no password
)

// A Plan says how to install what is missing.
type Plan struct {
	Packages []string
	Install  []string // a command; nil if there is nothing to install
	Refresh  []string // a command to be run when Stale, or when Install fails; nil if there is none
	Stale    bool     // the manager does not know something that it usually has
	Ask      bool     // before anything is run
	ByHand   []Advice // what it cannot install
}

// Advice is how somebody gets one thing.
type Advice struct {
	Need Need
	How  string
}

// Errors of Decide. Their texts say what to do.
var (
	ErrNoManager  = errors.New("no package manager that seckill knows (apt, dnf, pacman, apk, Homebrew) is on the PATH")
	ErrMayNot     = errors.New("installing needs root, and neither this user nor sudo without a password has it: run seckill deps as root, or at a terminal")
	ErrBrewAsRoot = errors.New("brew refuses to run as root: run seckill deps as the user it belongs to")
)

// Decide plans an installation. It runs nothing but s.Knows. Even with an
// error, the plan's ByHand says how to get what is missing.
func Decide(s Situation) (Plan, error) {
	if len(s.Missing) == 0 {
		return Plan{}, nil
	}
	i := slices.IndexFunc(managers, func(m manager) bool { return s.OnPath(m.name) })
	if i < 0 {
		return Plan{ByHand: Advise(s.Missing)}, ErrNoManager
	}
	m := managers[i]
	sudo, err := m.privilege(s)
	if err != nil {
		return Plan{ByHand: Advise(s.Missing)}, err
	}
	p := Plan{Ask: s.Terminal && !s.Yes}
	var without []Need
	for _, need := range s.Missing {
		if name := m.choose(need, s.Knows); name != "" {
			if !slices.Contains(p.Packages, name) { // one may bring two things
				p.Packages = append(p.Packages, name)
			}
			continue
		}
		p.Stale = p.Stale || (m.refresh != nil && m.packages[need] != nil)
		without = append(without, need)
	}
	p.ByHand = Advise(without)
	if len(p.Packages) > 0 {
		p.Install = slices.Concat(sudo, m.install, p.Packages)
	}
	if m.refresh != nil {
		p.Refresh = slices.Concat(sudo, m.refresh)
	}
	return p, nil
}

// choose takes the first package that the manager knows.
func (m manager) choose(need Need, knows func([]string) bool) string {
	for _, name := range m.packages[need] {
		if knows(append(slices.Clone(m.knows), name)) {
			return name
		}
	}
	return ""
}

// privilege is what goes before the manager's commands.
func (m manager) privilege(s Situation) (sudo []string, err error) {
	switch {
	case !m.asRoot && s.Root:
		return nil, ErrBrewAsRoot
	case !m.asRoot, s.Root:
		return nil, nil
	case s.Sudo == SudoFree:
		return []string{"sudo", "-n"}, nil
	case s.Sudo == SudoAsks && s.Terminal:
		return []string{"sudo"}, nil
	}
	return nil, ErrMayNot
}

// Advise says how to get each of them by hand.
func Advise(needs []Need) []Advice {
	var list []Advice
	for _, need := range needs {
		list = append(list, Advice{need, byHand[need]})
	}
	return list
}

// Missing is what the lab would like and this machine does not have.
func (p Programs) Missing() []Need {
	var needs []Need
	for _, one := range []struct {
		need  Need
		there bool
	}{
		{NeedSQL, p.MySQL.Found()},
		{NeedRedis, p.Redis.Found()},
		{NeedEtcd, p.Etcd.Found()},
		{NeedZooKeeper, p.ZooKeeper.Classpath != ""},
		{NeedJava, p.ZooKeeper.Java != ""},
	} {
		if !one.there {
			needs = append(needs, one.need)
		}
	}
	return needs
}

// Shell writes a command as a shell reads it.
func Shell(command []string) string {
	words := make([]string, len(command))
	for i, word := range command {
		if word == "" || strings.ContainsAny(word, " \t\n'\"$&|;<>()*?`\\#~!{}[]") {
			word = "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
		}
		words[i] = word
	}
	return strings.Join(words, " ")
}
