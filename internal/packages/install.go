package packages

import (
	"errors"
	"slices"
	"strings"
)

// A Situation decides how something is installed.
type Situation struct {
	Missing  []Tool
	OnPath   func(program string) bool
	Knows    func(question []string) bool // asks a manager about a package
	Root     bool
	Sudo     Sudo
	Terminal bool // the user can be asked
	Yes      bool // the user has agreed already
}

// Sudo says whether sudo can be used.
type Sudo int

const (
	NoSudo Sudo = iota
	SudoAsks
	SudoFree // needs no password
)

// A Plan says how to install what is missing.
type Plan struct {
	Packages []string
	Install  []string // a command; nil: nothing can be installed
	Refresh  []string // a command to run if Stale, or if Install fails; nil: none
	Stale    bool     // the manager lacks a package that it usually has
	Ask      bool     // before anything is run
	ByHand   []Advice // what the manager cannot install
}

// Advice says how to get a tool by hand.
type Advice struct {
	Tool Tool
	How  string
}

// Errors of Decide. Their texts say what the user can do.
var (
	ErrNoManager  = errors.New("no package manager that seckill knows (apt, dnf, pacman, apk, Homebrew) is on the PATH")
	ErrMayNot     = errors.New("installing needs root, and neither this user nor sudo without a password has it: run seckill deps as root, or at a terminal")
	ErrBrewAsRoot = errors.New("brew refuses to run as root: run seckill deps as the user it belongs to")
)

// Decide plans an installation. It runs nothing but s.Knows. Even with an error
// the plan's ByHand says how to get what is missing.
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
	var without []Tool
	for _, tool := range s.Missing {
		if name := m.choose(tool, s.Knows); name != "" {
			if !slices.Contains(p.Packages, name) { // one package may hold two tools
				p.Packages = append(p.Packages, name)
			}
			continue
		}
		p.Stale = p.Stale || (m.refresh != nil && m.packages[tool] != nil)
		without = append(without, tool)
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

// choose returns the first package that the manager knows; "" if none.
func (m manager) choose(tool Tool, knows func([]string) bool) string {
	for _, name := range m.packages[tool] {
		if knows(append(slices.Clone(m.knows), name)) {
			return name
		}
	}
	return ""
}

// privilege returns what goes before the manager's commands.
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
func Advise(missing []Tool) []Advice {
	var list []Advice
	for _, tool := range missing {
		list = append(list, Advice{tool, tools[tool].byHand})
	}
	return list
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
