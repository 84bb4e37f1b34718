package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"slices"
	"time"

	"github.com/redis/go-redis/v9"

	"seckill/internal/backend"
	"seckill/internal/catalog"
	"seckill/internal/game"
	"seckill/strategies"
)

// LevelCmd is about the levels of the game.
type LevelCmd struct {
	List  LevelListCmd  `cmd:"" help:"List the levels."`
	Check LevelCheckCmd `cmd:"" help:"Show that levels can be solved, or cannot."`
}

// LevelListCmd lists the levels.
type LevelListCmd struct {
	Language string `default:"en" enum:"en,zh" help:"Language of the titles: ${enum}."`
}

func (c LevelListCmd) Run(stdout io.Writer) error {
	for _, t := range game.Tasks() {
		fmt.Fprintf(stdout, "%3d  %-20s  %-22s  %s\n", t.Number, t.Name, t.Setting.Strategy, t.Text[c.Language].Title)
	}
	return nil
}

// LevelCheckCmd checks levels on real servers.
type LevelCheckCmd struct {
	Names  []string      `arg:"" optional:"" placeholder:"NAME" help:"Levels, by name; or files of such as are not in the program."`
	All    bool          `help:"Check every level."`
	Search bool          `help:"Have the explorer search, too: an impossible level is exhausted, and the others' own solutions are shown."`
	Time   time.Duration `default:"5m" placeholder:"D" help:"How long the explorer may search for one level (${default})."`

	// Given are servers to check on, instead of the running lab's.
	Given backend.Config `embed:""`

	tasks []*game.Task
}

// Help is what seckill level check --help says below its flags.
func (LevelCheckCmd) Help() string {
	return `The solution in the level's file is played, and must break what the level names. Without --search a level that is
said to be impossible is only read. With it the explorer runs all its schedules: none may break it, and
there are as many as the file says.

Exit status: 0 when every level is as its file says, 1 when the servers failed, 2 for a wrong command line, 10 when a level is not.`
}

func (c *LevelCheckCmd) Validate() error {
	if c.All == (len(c.Names) > 0) {
		return errors.New("name levels or files, or give --all")
	}
	if c.Time <= 0 {
		return errors.New("--time must be longer than 0, such as 5m")
	}
	if c.All {
		c.tasks = game.Tasks()
		return nil
	}
	for _, name := range c.Names {
		if t := game.LevelNamed(name); t != nil {
			c.tasks = append(c.tasks, t)
			continue
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return fmt.Errorf("there is no level %q (seckill level list lists them), and no such file", name)
		}
		t, err := game.ReadLevel(name, text)
		if err != nil {
			return err
		}
		c.tasks = append(c.tasks, &t)
	}
	return nil
}

// statusWrongLevel is the exit status when a level is not as its file says.
const statusWrongLevel = 10

func (c *LevelCheckCmd) Run(ctx context.Context, stdout io.Writer, stderr stderrWriter) error {
	redis.SetLogger(redisLog{slog.New(slog.DiscardHandler)}) // instances are killed on purpose
	all := strategies.All()
	names := []string{}
	for _, t := range c.tasks {
		names = append(names, t.Setting.Strategy)
	}
	infos := slices.DeleteFunc(slices.Clone(all), func(i catalog.Info) bool { return !slices.Contains(names, i.Name) })
	servers, leave, err := gameServers(ctx, stderr, c.Given, infos...)
	if err != nil {
		return err
	}
	defer leave()
	checker := game.Checker{Servers: servers, Strategies: all, Search: c.Search, Time: c.Time}
	wrong := 0
	for _, t := range c.tasks {
		f, err := checker.Check(ctx, t)
		if err != nil {
			return fmt.Errorf("level %s: %w", t.Name, err)
		}
		if f.Wrong != "" {
			wrong++
		}
		fmt.Fprintf(stdout, "%3d  %-20s  %s\n", t.Number, t.Name, found(t, f))
	}
	if wrong > 0 {
		fmt.Fprintf(stdout, "%d are not as their files say.\n", wrong)
		return exitStatus(statusWrongLevel)
	}
	return nil
}

// found says what came of a level.
func found(t *game.Task, f game.Finding) string {
	text := ""
	switch {
	case f.Wrong != "":
		text = "WRONG: " + f.Wrong
	case t.Impossible > 0 && f.Schedules == 0:
		text = "said to be impossible; not searched (--search)"
	case t.Impossible > 0:
		text = fmt.Sprintf("impossible: all %d schedules were run", f.Schedules)
	default:
		text = fmt.Sprintf("solved in %d moves, %d switches", f.Moves, f.Switches)
	}
	if f.Found != "" {
		text += fmt.Sprintf("; the explorer: %s, %d moves, %d switches", f.Found, f.FoundMoves, f.FoundSwitches)
	}
	return text
}
