package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"seckill/internal/backend"
	"seckill/internal/catalog"
	"seckill/internal/explore"
	"seckill/internal/game"
	"seckill/internal/lab"
	"seckill/internal/probe"
	"seckill/internal/tables"
	"seckill/internal/web"
	"seckill/strategies"
)

// PlayCmd is the game in the terminal: a person schedules the buyers' commands.
type PlayCmd struct {
	Level    string `placeholder:"NAME" help:"Play a level. Without --level and --strategy the levels are listed."`
	Strategy string `placeholder:"NAME" help:"Play freely with a strategy: two buyers, two units."`
	Language string `default:"en" enum:"en,zh" help:"Language of a level's text: ${enum}."`

	Record    string        `placeholder:"FOLDER" help:"${Record}"`
	RecordFor time.Duration `default:"30s" placeholder:"TIME" help:"Time to record each level (${default})."`

	// Given has the servers that the user has given. All other servers are started for this game only.
	Given backend.Config `embed:""`

	level *game.Level // the chosen level; nil in free play
	info  catalog.Info
}

func (PlayCmd) Help() string {
	return `You are the scheduler: each move lets the next real command of one buyer run. Type moves and Enter,
or pipe them in:

  a, b, c    the next command of that buyer
  na         the renewer of a's lock goes on
  L          the lease of the lock's holder ends
  Ka         without a lock: the server closes a's connection
  Da         the process of a dies
  Ga         the servers give up a, who has died
  Qa         a closes their connection
  Ra         a's next command works, its reply is lost
  Ca         a's next command never arrives
  Wa         a's next command is delayed; Va lets it arrive
  Ja         the clock of a's process jumps ahead
  T          time passes, when no buyer can go on

or a word on a line of its own: undo, impossible (says that the level cannot be won), hint, quit.

Exit status: 0 a level was won or free play has ended, 1 the servers failed, 2 wrong command line,
10 a level was not won.`
}

func (c *PlayCmd) Validate() error {
	err := c.Given.Check()
	switch {
	case c.Level != "" && c.Strategy != "":
		return errors.New("--level or --strategy says what is played: give one of them")
	case c.Record != "" && c.Strategy != "":
		return errors.New("--record records levels: leave out --strategy")
	case c.Level != "":
		if c.level = game.LevelNamed(c.Level); c.level == nil {
			return fmt.Errorf("--level: there is no level %q; seckill play lists them", c.Level)
		}
		c.info = strategies.Named(c.level.Setting.Strategy)
	case c.Strategy != "" && err == nil:
		c.info, err = strategyNamed("--strategy", c.Strategy)
	}
	return err
}

func (c *PlayCmd) Run(ctx context.Context, stdout io.Writer, stderr stderrWriter) (err error) {
	if c.Record != "" {
		return c.recordLevels(ctx, stdout, stderr)
	}
	if c.info.Name == "" {
		return listLevels(stdout, c.Language)
	}
	fmt.Fprintln(stderr, "Starting servers for the game.")
	l, err := c.startServers(ctx, c.info)
	if err != nil {
		return err
	}
	defer endLab(stderr, l)
	if why := game.WhyUnplayable(l.Config(), c.info); why != "" {
		return errors.New(why)
	}
	setting := game.FreePlay(c.info, 2, 2, 0)
	if c.level != nil {
		setting = c.level.Setting
	}
	g, err := game.Open(ctx, l.Config(), c.info, setting, c.level, "")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, g.Close(ctx)) }()
	t := table{stdout, c.level, c.Language}
	t.showSetting(setting)
	t.showState(g.State())
	if err := t.playInput(ctx, g, os.Stdin); err != nil {
		return err
	}
	s := g.State()
	fmt.Fprintf(stdout, "Schedule: %s\n", s.Schedule)
	if c.level != nil && (s.Grade == nil || !s.Grade.Won) {
		return exitStatus(statusNotWon)
	}
	return nil
}

// statusNotWon is the exit status if a level was not won.
const statusNotWon = 10

func (c *PlayCmd) startServers(ctx context.Context, infos ...catalog.Info) (*lab.Lab, error) {
	servers := serversFor(infos...)
	return lab.Start(ctx, lab.Options{Host: thisHost(), Given: c.Given, Backends: servers, Volatile: true})
}

func listLevels(w io.Writer, language string) error {
	for _, l := range game.Levels() {
		title, strategy := l.Text[language].Title, l.Setting.Strategy
		if _, err := fmt.Fprintf(w, "%3d  %-22s  %-22s  %s\n", l.Number, l.Name, strategy, title); err != nil {
			return err
		}
	}
	return nil
}

// A table shows a game in the terminal and carries out the moves that are typed.
type table struct {
	io.Writer
	level    *game.Level // nil in free play
	language string
}

// playInput carries out the typed lines until the input ends or a line says "quit".
func (t table) playInput(ctx context.Context, g *game.Game, in io.Reader) error {
	input, lines := bufio.NewScanner(in), make(chan string)
	go func() { // Reading from a terminal cannot be interrupted, so this goroutine may run longer than the game.
		defer close(lines)
		for input.Scan() {
			lines <- input.Text()
		}
	}()
	for {
		fmt.Fprint(t, "> ")
		var line string
		var more bool
		select {
		case line, more = <-lines:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
		if !more {
			fmt.Fprintln(t)
			if errors.Is(input.Err(), bufio.ErrTooLong) {
				return fmt.Errorf("a line is longer than %d letters: write several lines", bufio.MaxScanTokenSize)
			}
			return input.Err()
		}
		if line = strings.TrimSpace(line); line == "quit" {
			return nil
		}
		var refused *web.Problem
		switch err := t.obeyLine(ctx, g, line); {
		case errors.As(err, &refused):
			fmt.Fprintln(t, refused.Detail)
		case err != nil:
			return err
		}
	}
}

func (t table) obeyLine(ctx context.Context, g *game.Game, line string) (err error) {
	var s game.State
	switch line {
	case "hint":
		if t.level == nil {
			fmt.Fprintln(t, "Free play has no hint.")
		} else {
			fmt.Fprintln(t, t.level.Text[t.language].Hint)
		}
		return nil
	case "undo":
		s, err = g.Undo(ctx, 1)
	case "impossible":
		s, err = g.SayImpossible()
	default:
		moves, err := game.ReadSchedule(line)
		for _, m := range moves {
			if s, err = g.Move(ctx, game.FormatSchedule(m)); err != nil {
				break
			}
			t.showState(s)
		}
		return err
	}
	if err == nil {
		t.showState(s)
	}
	return err
}

func (t table) showSetting(s game.Setting) {
	if t.level == nil {
		fmt.Fprintf(t, "%s, free play.\n", s.Strategy)
	} else {
		text := t.level.Text[t.language]
		fmt.Fprintf(t, "%d. %s (%s)\n%s\n", t.level.Number, text.Title, s.Strategy, text.Goal)
	}
	fmt.Fprintf(t, "Units on sale: %d.", s.Stock)
	for _, b := range s.Buyers {
		fmt.Fprintf(t, " %s %s %d, in process %d.", b.Name, b.Action, b.Quantity, b.Process+1)
	}
	fmt.Fprintln(t)
}

func (t table) showState(s game.State) {
	if n := len(s.Steps); n > 0 {
		fmt.Fprintln(t, n, s.Steps[n-1])
	}
	values := tables.Map(s.Values, func(v probe.Value) string { return v.Name + " = " + v.Value })
	fmt.Fprintf(t, "    %s\n", strings.Join(values, "; "))
	for _, b := range s.Actors {
		fmt.Fprintf(t, "    %s %s%s: %s\n", b.Name, b.State, lockNote(b), describeActor(b))
	}
	if s.Over {
		t.showVerdict(s)
		return
	}
	if g := s.Grade; g != nil && g.SaidImpossible {
		t.showGrade(g)
	}
	moves := tables.Map(s.Moves, func(m game.Move) string { return m.Move })
	fmt.Fprintf(t, "    moves: %s; faults left: %d\n", strings.Join(moves, " "), s.FaultsLeft)
}

func lockNote(b explore.ActorView) string {
	switch {
	case b.Expired:
		return ", believes they have the lock: its lease has ended"
	case b.Holds:
		return ", has the lock"
	}
	return ""
}

func describeActor(b explore.ActorView) string {
	switch {
	case b.Next != nil:
		return b.Next.Text
	case b.Waiting != nil && len(b.Waiting.For) > 0:
		return b.Waiting.Why + ", which " + strings.Join(b.Waiting.For, " and ") + " has"
	case b.Waiting != nil:
		return b.Waiting.Why
	}
	return b.Told
}

func (t table) showVerdict(s game.State) {
	v := s.Verdict
	fmt.Fprintf(t, "All are done: %d sold of %d, %d left.\n", v.Sold, v.Stock, v.Left)
	for _, p := range v.Problems {
		fmt.Fprintf(t, "  %s: %s\n", p.Rule, p.Message)
	}
	if !v.Broken {
		fmt.Fprintln(t, "  The judge finds nothing wrong.")
	}
	if s.Grade != nil {
		t.showGrade(s.Grade)
	}
}

func (t table) showGrade(g *game.Grade) {
	text := t.level.Text[t.language]
	switch {
	case g.SaidImpossible && g.Won:
		fmt.Fprintf(t, "Right: it is impossible. %s\n", text.Solved)
		if g.Searched > 0 {
			fmt.Fprintf(t, "The explorer ran every schedule that could make a difference: %d.\n", g.Searched)
		}
	case g.SaidImpossible:
		fmt.Fprintln(t, "It is possible: there is a schedule that does it.")
	case g.Won:
		fmt.Fprintf(t, "Solved. %s\nBest known: %d moves.\n", text.Solved, g.BestMoves)
	default:
		fmt.Fprintln(t, "That is not what the level asks for. Undo, or say that it is impossible.")
	}
}

const (
	recordedAtOnce  = 4 // the number of levels recorded at a time, so that some compute while others wait
	maxRecordedSize = 300_000
)

// recordLevels records one level, or all levels, on private servers. For each level it writes a file with the
// servers' answers to all moves into the folder of --record.
func (c *PlayCmd) recordLevels(ctx context.Context, stdout io.Writer, stderr stderrWriter) error {
	levels := game.Levels()
	if c.level != nil {
		levels = []*game.Level{c.level}
	}
	strategyOf := func(level *game.Level) catalog.Info { return strategies.Named(level.Setting.Strategy) }
	l, err := c.startServers(ctx, tables.Map(levels, strategyOf)...)
	if err != nil {
		return err
	}
	defer endLab(stderr, l)
	servers := tables.Map(l.Backends(), func(b backend.Status) string { return b.Name + " " + b.Version })
	if err := os.MkdirAll(c.Record, 0o777); err != nil {
		return fmt.Errorf("--record: %w", err)
	}
	var printing sync.Mutex // guards stdout
	var all errgroup.Group  // the other levels are still recorded after an error
	all.SetLimit(recordedAtOnce)
	for _, level := range levels {
		all.Go(func() error {
			began := time.Now()
			r, err := game.Record(ctx, l.Config(), strategyOf(level), level,
				game.RecordLimits{Time: c.RecordFor, Size: maxRecordedSize})
			if err == nil {
				r.Recorded, r.Servers = began.UTC().Format(time.DateOnly), servers
				err = writeFile(filepath.Join(c.Record, level.Name+".json.gz"), r.Write)
			}
			if err != nil {
				return err
			}
			printing.Lock()
			defer printing.Unlock()
			bound := "every schedule"
			if !r.Whole {
				bound = fmt.Sprintf("at most %d turns", r.Turns)
			}
			fmt.Fprintf(stdout, "%2d  %-24s %6d schedules  %6d positions  %5.1f s  %s\n",
				level.Number, level.Name, r.Schedules, len(r.Positions), time.Since(began).Seconds(), bound)
			return nil
		})
	}
	return all.Wait()
}
