package packages

import (
	"cmp"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// A Program is a tool on this machine, or the lack of it.
type Program struct {
	Name string
	Path string // of the program, or of ZooKeeper's jar; empty: not found
	// Java and Classpath run ZooKeeper, which is not a program by itself.
	Java, Classpath string

	Use   string // what it is for
	Get   string // the command that installs it
	Lacks []Tool // what must be installed to have it; empty: nothing

	versionFlag string
	lookedFor   string
}

// Found reports whether the program can be run.
func (p Program) Found() bool { return p.Path != "" }

// Missing says what was not found and how to get it; empty if it was found.
func (p Program) Missing() string {
	if p.Found() {
		return ""
	}
	return "no " + p.lookedFor + " was found on this machine: run " + p.Get
}

// A Search looks for programs.
type Search struct {
	folders, libraries  []string
	javaHome, zookeeper string
}

// NewSearch looks on the PATH, and where systems put servers that are not on
// it. It reads PATH, JAVA_HOME and ZOOKEEPER_HOME.
func NewSearch(getenv func(string) string) Search {
	s := Search{javaHome: getenv("JAVA_HOME"), zookeeper: getenv("ZOOKEEPER_HOME"), libraries: galeraFolders}
	s.folders = append(filepath.SplitList(getenv("PATH")), "/usr/sbin", "/usr/local/sbin", "/usr/local/bin", "/usr/bin",
		"/usr/libexec", "/opt/homebrew/bin", "/opt/homebrew/sbin", "/usr/local/mysql/bin",
		"/Applications/Chromium.app/Contents/MacOS", "/Applications/Google Chrome.app/Contents/MacOS")
	for _, pattern := range []string{ // what Homebrew and MacPorts keep off the PATH
		"/opt/homebrew/opt/{}*/bin", "/usr/local/opt/{}*/bin", "/opt/local/lib/{}*/bin"} {
		for _, name := range []string{"mariadb", "mysql", "redis", "valkey", "etcd"} {
			kegs, _ := filepath.Glob(strings.ReplaceAll(pattern, "{}", name))
			s.folders = append(s.folders, kegs...)
		}
	}
	return s
}

// Find looks for a tool.
func (s Search) Find(tool Tool) Program {
	about := tools[tool]
	p := Program{Name: cmp.Or(about.title, string(tool)), Use: about.use, Get: "seckill deps",
		versionFlag: about.version}
	if slices.Contains(Testing, tool) {
		p.Get += " --tests"
	}
	switch tool {
	case ZooKeeper:
		s.findZooKeeper(&p)
		return p
	case Galera:
		s.findGalera(&p)
		return p
	}
	for _, name := range about.programs {
		if p.Path = s.lookup(name); p.Path != "" {
			return p
		}
	}
	p.lookedFor = strings.Join(about.programs[:min(2, len(about.programs))], " or ")
	p.Lacks = []Tool{tool}
	return p
}

// lookup returns a program's path, "" if there is none.
func (s Search) lookup(name string) string {
	for _, folder := range s.folders {
		if !filepath.IsAbs(folder) {
			continue // would depend on the working folder
		}
		path := filepath.Join(folder, name)
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() && info.Mode().Perm()&0o111 != 0 {
			return path
		}
	}
	return ""
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
	if filepath.Base(p.Path) == galeraLibrary {
		return p.Name, nil // it says its version to a server only
	}
	flag := cmp.Or(p.versionFlag, "--version")
	out, err := exec.CommandContext(ctx, p.Path, flag).Output()
	if err != nil {
		return "", errors.New(p.Path + " " + flag + ": " + err.Error())
	}
	name := p.Name
	for _, brand := range []struct{ says, name string }{{"MariaDB", "MariaDB"}, {"mysqld", "MySQL"}, {"Valkey", "Valkey"}} {
		if strings.Contains(string(out), brand.says) {
			name = brand.name
			break
		}
	}
	if number := versionNumber.FindSubmatch(out); number != nil {
		return name + " " + string(number[1]), nil
	}
	return name, nil
}
