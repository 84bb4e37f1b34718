package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"

	"github.com/mattn/go-isatty"

	"seckill/internal/packages"
)

// DepsCmd installs what is missing, and only that.
type DepsCmd struct {
	Yes        bool `short:"y" help:"Install without asking."`
	DryRun     bool `help:"Print the commands and run none."`
	BestEffort bool `help:"Succeed even if something could not be installed; the lab then uses what there is."`
	Tests      bool `help:"Also what the tests need: a browser, etcdctl, a C compiler for the race detector, TypeScript for the page, and promtool for the alert rules."`
}

// Run installs with the system's package manager. At a terminal it asks first.
func (c DepsCmd) Run(ctx context.Context, stdout io.Writer, stderr stderrWriter) error {
	terminal := isatty.IsTerminal(os.Stdin.Fd())
	i := installer{
		DepsCmd: c, out: stdout,
		missing: func() []packages.Tool { return packages.NewSearch(os.Getenv).Missing(c.Tests) },
		situation: packages.Situation{
			OnPath: func(program string) bool { _, err := exec.LookPath(program); return err == nil },
			Knows: func(question []string) bool {
				said, err := exec.CommandContext(ctx, question[0], question[1:]...).Output()
				return err == nil && len(said) > 0
			},
			Root: os.Geteuid() == 0, Sudo: findSudo(ctx), Terminal: terminal, Yes: c.Yes,
		},
		run: func(command []string) error { return runShown(ctx, command, stderr) },
		yes: func() bool { return saysYes(ctx, os.Stdin) },
	}
	err := i.install()
	if err != nil && c.BestEffort && ctx.Err() == nil {
		fmt.Fprintf(stdout, "%v\nGoing on without: the lab uses its embedded engines, and says which strategies cannot run.\n", err)
		return nil
	}
	return err
}

func findSudo(ctx context.Context) packages.Sudo {
	if _, err := exec.LookPath("sudo"); err != nil {
		return packages.NoSudo
	}
	if exec.CommandContext(ctx, "sudo", "-n", "true").Run() == nil {
		return packages.SudoFree
	}
	return packages.SudoAsks
}

// runShown runs a command and shows its output. Ctrl-C asks it to end instead of
// killing it, so that it can undo its changes.
func runShown(ctx context.Context, command []string, out io.Writer) error {
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, out, out
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	return cmd.Run()
}

// saysYes reads an answer. An empty line means yes, the end of the input no.
func saysYes(ctx context.Context, in io.Reader) bool {
	answer := make(chan string, 1)
	go func() {
		line, err := bufio.NewReader(in).ReadString('\n')
		if err != nil && line == "" {
			line = "no"
		}
		answer <- strings.ToLower(strings.TrimSpace(line))
	}()
	select {
	case <-ctx.Done():
		return false
	case a := <-answer:
		return a == "" || a == "y" || a == "yes"
	}
}

// An installer carries out the plan of packages.Decide.
type installer struct {
	DepsCmd
	out       io.Writer
	missing   func() []packages.Tool
	situation packages.Situation
	run       func(command []string) error
	yes       func() bool
}

var errDeclined = errors.New("nothing was installed, as you wished; seckill up --embedded needs nothing")

func (i installer) install() error {
	i.situation.Missing = i.missing()
	if len(i.situation.Missing) == 0 {
		fmt.Fprintln(i.out, "Everything that is needed is installed (seckill doctor shows it).")
		return nil
	}
	fmt.Fprintf(i.out, "Missing: %s.\n", list(i.situation.Missing))
	plan, err := packages.Decide(i.situation)
	if err != nil {
		return i.failed(err, plan.ByHand)
	}
	if i.DryRun {
		return i.show(plan)
	}
	if plan.Ask && (plan.Install != nil || plan.Stale) {
		fmt.Fprintf(i.out, "Install %s now? No service is started. [Y/n] ", list(i.situation.Missing))
		if !i.yes() {
			return errDeclined
		}
	}
	if err := i.carryOut(plan); err != nil {
		return err
	}
	if left := i.missing(); len(left) > 0 {
		return i.failed(fmt.Errorf("still missing: %s", list(left)), packages.Advise(left))
	}
	fmt.Fprintf(i.out, "Installed: %s.\n", list(i.situation.Missing))
	return nil
}

// carryOut fetches the package lists only if they lack something or are too old
// to install from.
func (i installer) carryOut(plan packages.Plan) (err error) {
	fresh := false
	refresh := func() error {
		fresh = true
		return i.step(plan.Refresh)
	}
	if plan.Stale {
		if err := refresh(); err != nil {
			fmt.Fprintf(i.out, "Going on with the lists of packages that are there: %v.\n", err)
		}
		if plan, err = packages.Decide(i.situation); err != nil {
			return err
		}
	}
	if plan.Install == nil {
		return nil
	}
	err = i.step(plan.Install)
	if err != nil && !fresh && plan.Refresh != nil && refresh() == nil {
		err = i.step(plan.Install)
	}
	if err != nil {
		return i.failed(err, packages.Advise(i.missing()))
	}
	return nil
}

func (i installer) step(command []string) error {
	if err := i.run(command); err != nil {
		return fmt.Errorf("%s failed: %w (what it said is above)", packages.Shell(command[:min(2, len(command))]), err)
	}
	return nil
}

func (i installer) show(plan packages.Plan) error {
	if plan.Stale {
		fmt.Fprintln(i.out, packages.Shell(plan.Refresh))
	}
	if plan.Install != nil {
		fmt.Fprintln(i.out, packages.Shell(plan.Install))
	}
	i.advise(plan.ByHand)
	return nil
}

func (i installer) failed(err error, byHand []packages.Advice) error {
	i.advise(byHand)
	return err
}

func (i installer) advise(byHand []packages.Advice) {
	for _, a := range byHand {
		fmt.Fprintf(i.out, "%s: %s.\n", a.Tool, a.How)
	}
}

func list(needs []packages.Tool) string {
	names := make([]string, len(needs))
	for n, need := range needs {
		names[n] = string(need)
	}
	return strings.Join(names, ", ")
}
