package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/redis/go-redis/v9"

	"seckill/internal/backend"
	"seckill/internal/catalog"
	"seckill/internal/game"
	"seckill/internal/lab"
)

// PlayCmd lets a person be the scheduler, in the terminal.
type PlayCmd struct {
	Level     string `placeholder:"NAME" help:"Play a level; seckill level list lists them."`
	Strategy  string `placeholder:"NAME" help:"Play freely with a strategy."`
	Buyers    int    `default:"2" placeholder:"N" help:"Free play: 2 or 3 buyers (${default})."`
	Stock     int64  `default:"2" placeholder:"N" help:"Free play: units on sale, 1 to 100 (${default})."`
	Processes int    `default:"0" placeholder:"N" help:"Free play: 1 puts all buyers into one service process; 0 gives each their own."`
	Schedule  string `placeholder:"MOVES" help:"Replay these moves first, as a game shows them: abab."`
	Language  string `default:"en" enum:"en,zh" help:"Language of a level's text: ${enum}."`

	// Given are servers to play on, instead of the running lab's.
	Given backend.Config `embed:""`
}

// Help is what seckill play --help says below its flags.
func (PlayCmd) Help() string {
	return `You are the scheduler: each move lets the next real command of one buyer run. Type a move and Enter, or pipe moves
in, one a line or several apart by spaces:

  a, b, c       the next command of that buyer
  kill a        the process of a dies              (Da)
  lease         the lease of the lock's holder ends (L)
  lose a        a's next command works, its reply is lost (Ra)
  drop a        a's next command never arrives     (Ca)
  jump a        the clock of a's process jumps ahead (Ja)
  delay a       a's next command arrives later     (Wa), which "arrive a" lets it (Va)
  leave a       a closes their connection          (Qa)
  renew a       the renewer of a's lock goes on    (na)
  expire a      the servers give up a, who has died (Ga)
  time          time passes, when no buyer can go on (T)
  undo          takes the last move back; undo 3 takes three
  impossible    says that the level cannot be won
  hint, quit

Exit status: 0 when the input has ended or a level was won, 1 when the servers failed, 2 for a wrong command line,
10 when a level was not won.`
}

func (c *PlayCmd) Validate() error {
	if (c.Level == "") == (c.Strategy == "") {
		return errors.New("--level or --strategy says what is played: give one of them")
	}
	if c.Level != "" && game.LevelNamed(c.Level) == nil {
		return fmt.Errorf("--level: there is no level %q; seckill level list lists them", c.Level)
	}
	if c.Strategy != "" {
		if _, err := strategyNamed("--strategy", c.Strategy); err != nil {
			return err
		}
	}
	switch {
	case c.Buyers < 2 || c.Buyers > 3:
		return errors.New("--buyers must be 2 or 3")
	case c.Stock < 1 || c.Stock > 100:
		return errors.New("--stock must be 1 to 100")
	case c.Processes < 0 || c.Processes > 1:
		return errors.New("--processes must be 0 or 1")
	}
	_, err := game.Read(c.Schedule)
	if err != nil {
		return fmt.Errorf("--schedule: %w", err)
	}
	return nil
}

func (c *PlayCmd) Run(ctx context.Context, stdout io.Writer, stderr stderrWriter) error {
	return c.play(ctx, os.Stdin, stdout, stderr)
}

// statusNotWon is the exit status of a level that was not won.
const statusNotWon = 10

func (c *PlayCmd) play(ctx context.Context, stdin io.Reader, stdout io.Writer, stderr io.Writer) (err error) {
	redis.SetLogger(redisLog{slog.New(slog.DiscardHandler)}) // instances are killed on purpose
	level := game.LevelNamed(c.Level)
	name := c.Strategy
	if level != nil {
		name = level.Setting.Strategy
	}
	info, err := strategyNamed("--strategy", name)
	if err != nil {
		return err
	}
	servers, leave, err := gameServers(ctx, stderr, c.Given, info)
	if err != nil {
		return err
	}
	defer leave()
	if why := game.Missing(servers, info); why != nil {
		return errors.New(why[0])
	}
	setting := game.Free(info, c.Buyers, c.Stock, c.Processes)
	if level != nil {
		setting = level.Setting
	}
	g, err := game.Open(ctx, servers, info, setting, level, c.Schedule)
	if err != nil {
		return err
	}
	defer func() {
		ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), 20*time.Second)
		defer cancel()
		err = errors.Join(err, g.Close(ending))
	}()
	t := table{stdout, level, c.Language}
	t.begin(setting)
	t.show(g.State())
	if err := t.read(ctx, g, stdin); err != nil {
		return err
	}
	s := g.State()
	fmt.Fprintf(stdout, "Schedule: %s\n", s.Schedule)
	if level != nil && (s.Grade == nil || !s.Grade.Won) {
		return exitStatus(statusNotWon)
	}
	return nil
}

// gameServers are those that were given, or those of the lab that runs; what is
// lacking then is started privately.
func gameServers(ctx context.Context, stderr io.Writer, given backend.Config, infos ...catalog.Info) (c backend.Config, leave func(), err error) {
	var needs []backend.Capability
	for _, i := range infos {
		needs = append(needs, i.Uses()...)
	}
	if given.MySQLDSN == "" {
		running, err := lab.Running(host())
		if err != nil {
			return c, nil, err
		}
		if running != nil {
			return running.Config.Or(given), func() {}, nil
		}
		fmt.Fprintln(stderr, "No lab is running: starting servers for this. (seckill up keeps them.)")
	}
	l, err := lab.Start(ctx, lab.Options{Host: host(), Given: given, Backends: backend.NamesOf(needs...), Volatile: true})
	if err != nil {
		return c, nil, err
	}
	return l.Config(), func() { _ = stopLab(l) }, nil
}

// words are moves, as people type them.
var words = map[string]string{"kill": "D", "lose": "R", "drop": "C", "delay": "W", "arrive": "V", "leave": "Q", "renew": "n", "expire": "G", "jump": "J", "close": "K"}

// A table shows a game.
type table struct {
	io.Writer
	level    *game.Task // nil: free play
	language string
}

// read plays what is typed, to the end of the input or "quit".
func (t table) read(ctx context.Context, g *game.Game, in io.Reader) error {
	lines := bufio.NewScanner(in)
	fmt.Fprint(t, "> ")
	for lines.Scan() {
		typed := strings.Fields(lines.Text())
		for len(typed) > 0 {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			n, quit, err := t.obey(ctx, g, typed)
			var mistake *game.Mistake
			switch {
			case errors.As(err, &mistake):
				fmt.Fprintln(t, mistake.Detail)
			case err != nil:
				return err
			}
			if quit {
				return nil
			}
			typed = typed[n:]
		}
		fmt.Fprint(t, "> ")
	}
	fmt.Fprintln(t)
	return lines.Err()
}

// obey does what the first words say, and returns how many they were.
func (t table) obey(ctx context.Context, g *game.Game, typed []string) (n int, quit bool, err error) {
	second := ""
	if len(typed) > 1 {
		second = typed[1]
	}
	var s game.State
	n = 1
	switch word := typed[0]; word {
	case "quit", "exit", "q":
		return 1, true, nil
	case "hint":
		if t.level == nil {
			fmt.Fprintln(t, "Free play has no hint.")
		} else {
			fmt.Fprintln(t, t.level.Text[t.language].Hint)
		}
		return 1, false, nil
	case "undo":
		back := 1
		if _, err := fmt.Sscanf(second, "%d", &back); err == nil {
			n = 2
		}
		s, err = g.Undo(ctx, back)
	case "impossible":
		s, err = g.SayImpossible()
	case "lease", "time":
		s, err = g.Move(ctx, map[string]string{"lease": "L", "time": "T"}[word], -1)
	default:
		move := word
		if letter, ok := words[word]; ok {
			n = min(2, len(typed))
			move = letter + second
		}
		s, err = g.Move(ctx, move, -1)
	}
	if err == nil {
		t.show(s)
	}
	return n, false, err
}

func (t table) begin(s game.Setting) {
	if t.level == nil {
		fmt.Fprintf(t, "%s, free play.\n", s.Strategy)
	} else {
		text := t.level.Text[t.language]
		fmt.Fprintf(t, "%d. %s (%s)\n%s\n", t.level.Number, text.Title, s.Strategy, text.Goal)
	}
	fmt.Fprintf(t, "%d units are on sale.", s.Stock)
	for _, b := range s.Buyers {
		fmt.Fprintf(t, " %s %s %d, in process %d.", b.Name, b.Does, b.Quantity, b.Process+1)
	}
	fmt.Fprintln(t)
}

// column is how wide a buyer's is, in characters.
const column = 48

func (t table) show(s game.State) {
	if n := len(s.Steps); n > 0 {
		t.step(n, s.Steps[n-1])
	}
	var values []string
	for _, v := range s.Values {
		values = append(values, v.Name+" = "+v.Value)
	}
	fmt.Fprintf(t, "    %s\n", strings.Join(values, "; "))
	for _, line := range []func(game.BuyerState) string{
		func(b game.BuyerState) string { return fmt.Sprintf("%s %s%s", b.Name, b.State, has(b)) }, stands,
	} {
		fmt.Fprint(t, "    ")
		for _, b := range s.Buyers {
			fmt.Fprint(t, padded(line(b)))
		}
		fmt.Fprintln(t)
	}
	if s.Over {
		t.end(s)
		return
	}
	if g := s.Grade; g != nil && g.SaidImpossible {
		t.grade(g)
	}
	var moves []string
	for _, m := range s.Moves {
		moves = append(moves, m.Move)
	}
	fmt.Fprintf(t, "    moves: %s; faults left: %d\n", strings.Join(moves, " "), s.FaultsLeft)
}

func (t table) step(n int, s game.Step) {
	text := strings.Join(strings.Fields(s.Who+" "+string(s.Fault)+" "+s.Command), " ")
	fmt.Fprintf(t, "%2d  %s%s\n", n, clipped(text, 2*column), answered(s))
}

func answered(s game.Step) string {
	switch {
	case s.Result != "":
		return " [" + s.Result + "]"
	case s.Reply != "":
		return " → " + s.Reply
	}
	return ""
}

func has(b game.BuyerState) string {
	switch {
	case b.Expired:
		return ", believes they have the lock: its lease has ended"
	case b.Holds:
		return ", has the lock"
	}
	return ""
}

// stands is where a buyer stands.
func stands(b game.BuyerState) string {
	switch {
	case b.Next != nil:
		return b.Next.Text
	case b.Waiting != nil:
		why := b.Waiting.Why
		if len(b.Waiting.For) > 0 {
			why += ", which " + strings.Join(b.Waiting.For, " and ") + " has"
		}
		return why
	}
	return b.Told
}

func padded(text string) string {
	text = clipped(strings.Join(strings.Fields(text), " "), column-2)
	return text + strings.Repeat(" ", column-utf8.RuneCountInString(text))
}

func clipped(text string, width int) string {
	if r := []rune(text); len(r) > width {
		return string(r[:width-1]) + "…"
	}
	return text
}

func (t table) end(s game.State) {
	v := s.Verdict
	fmt.Fprintf(t, "All are done: %d sold of %d, %d left.\n", v.Sold, v.Stock, v.Left)
	for _, p := range v.Problems {
		fmt.Fprintf(t, "  %s: %s\n", p.Rule, p.Message)
	}
	if !v.Broken {
		fmt.Fprintln(t, "  The judge finds nothing wrong.")
	}
	if s.Grade != nil {
		t.grade(s.Grade)
	}
}

func (t table) grade(g *game.Grade) {
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
		fmt.Fprintf(t, "Solved. %s\nBest known: %d moves, %d switches; yours is %s.\n", text.Solved, g.BestMoves, g.BestSwitches, g.Golf)
	default:
		fmt.Fprintln(t, "That is not what the level asks for. Undo, or say that it is impossible.")
	}
}
