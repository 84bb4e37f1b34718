// Command seckill is the flash-sale lab in one binary: the service, the private servers it runs on, the load
// generator and the page. Only this package reads flags and the environment.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/alecthomas/kong"
	"github.com/redis/go-redis/v9"

	"seckill/internal/lab"
	"seckill/strategies"
)

type commands struct {
	Up         UpCmd         `cmd:"" help:"Start the lab: backends, two service processes and the page."`
	Serve      ServeCmd      `cmd:"" help:"Run one service process on configured backends."`
	Load       LoadCmd       `cmd:"" help:"Send the purchases of many buyers to a sale and judge it from the ledger."`
	Compare    CompareCmd    `cmd:"" help:"Run the same sale with several strategies, and compare speed and verdicts."`
	Prove      ProveCmd      `cmd:"" help:"Run buyers' commands in one order after another, and say what breaks."`
	Chaos      ChaosCmd      `cmd:"" help:"Run a sale of every strategy with every fault in its middle."`
	Play       PlayCmd       `cmd:"" help:"Be the scheduler: choose whose command runs next, and break a strategy."`
	Bench      BenchCmd      `cmd:"" help:"Measure the locks, or repeat the experiments of the articles."`
	Strategies StrategiesCmd `cmd:"" help:"List the strategies: what each needs, and when it sells wrongly."`
	Site       SiteCmd       `cmd:"" help:"Write the page as a folder of static files that plays without a lab."`
	Doctor     DoctorCmd     `cmd:"" help:"Say which servers are found, and how to get the others."`

	Version kong.VersionFlag `help:"Print the version of this program."`
}

// An exitStatus is an error that ends the program with this exit status, which may be 0. The command has already
// printed its message.
type exitStatus int

func (s exitStatus) Error() string { return fmt.Sprintf("exit status %d", int(s)) }

const (
	statusFailed = 1 // the command could not do its work
	statusUsage  = 2 // the command line is wrong
)

func main() {
	ends := []os.Signal{syscall.SIGTERM}
	// A shell lets background processes of a script ignore Ctrl-C. Then this program must ignore it, too.
	if !signal.Ignored(os.Interrupt) {
		ends = append(ends, os.Interrupt)
	}
	ctx, stop := signal.NotifyContext(context.Background(), ends...)
	redis.SetLogger(redisLog{})
	status := runProgram(ctx, stop, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(status)
}

// runProgram runs the program, and returns its exit status. Tests call it, too. The function stop restores
// the default handling of signals, so that a second Ctrl-C ends a shutdown that hangs.
func runProgram(ctx context.Context, stop func(), args []string, stdout, stderr io.Writer) (status int) {
	parser, err := newParser(&commands{},
		kong.Name("seckill"),
		kong.Description("Every way of deducting stock and every distributed lock, side by side, on real servers. "+
			"Start with: seckill up"),
		kong.UsageOnError(),
		kong.Writers(stdout, stderr),
		kong.ConfigureHelp(helpOptions),
		kong.Help(printHelp),
		groups,
		kong.Exit(func(code int) { panic(exitStatus(code)) }), // kong calls this function after it has printed the help
		kong.WithBeforeApply(noEmptyValue),
		kong.Vars{"version": buildVersion()},
		kong.BindTo(ctx, (*context.Context)(nil)),
		kong.BindTo(stdout, (*io.Writer)(nil)),
		kong.Bind(stderrWriter{stderr}),
	)
	if err != nil {
		panic(err) // newParser fails only if the tags of a command are wrong.
	}
	defer func() { // The function that kong.Exit sets panics with an exit status. Return this status.
		switch r := recover().(type) {
		case nil:
		case exitStatus:
			status = int(r)
		default:
			panic(r)
		}
	}()
	if len(args) == 0 {
		args = []string{"--help"}
	}
	command, err := parser.Parse(joinNegatives(args))
	if err != nil {
		failed, hint := "seckill", "" // failed is the command whose flags are wrong; "seckill" if none was found
		var wrong *kong.ParseError
		if errors.As(err, &wrong) && wrong.Context.Selected() != nil {
			failed, hint = wrong.Context.Selected().FullPath(), strategyHint(wrong)
		}
		fmt.Fprintf(stderr, "seckill: %v%s\nTry: %s --help\n", err, hint, failed)
		return statusUsage
	}
	context.AfterFunc(ctx, stop)
	err = command.Run()
	var code exitStatus
	switch {
	case err == nil:
		return 0
	case errors.As(err, &code):
		return int(code)
	default:
		fmt.Fprintf(stderr, "seckill: %v\n", err)
		return statusFailed
	}
}

// strategyHint returns a hint if the unexpected argument is the name of a strategy, and the command has a
// flag for such names. Otherwise it returns "".
func strategyHint(wrong *kong.ParseError) string {
	name, found := strings.CutPrefix(wrong.Error(), "unexpected argument ")
	if !found || strategies.Named(name).Name == "" {
		return ""
	}
	for _, f := range wrong.Context.Selected().Flags {
		if f.Name == "strategy" || f.Name == "strategies" {
			return fmt.Sprintf(": name a strategy with --%s %s", f.Name, name)
		}
	}
	return ""
}

// stderrWriter writes messages that are not the result of a command.
type stderrWriter struct{ io.Writer }

func thisHost() lab.Host { return lab.Host{Environ: os.Environ(), Temp: os.TempDir()} }
