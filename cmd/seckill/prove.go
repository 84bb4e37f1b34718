package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"seckill/internal/backend"
	"seckill/internal/catalog"
	"seckill/internal/explore"
	"seckill/internal/game"
	"seckill/internal/lab"
	"seckill/internal/prove"
	"seckill/internal/tables"
	"seckill/strategies"
	"seckill/web"
)

// ProveCmd computes the guarantee matrix, or replays one schedule.
type ProveCmd struct {
	Strategies []string      `default:"all" placeholder:"NAME" help:"${StrategyNames}"`
	Options    prove.Options `embed:""`

	JSON     string `name:"json" placeholder:"FILE" help:"Write the matrix as JSON; - is standard output."`
	Markdown string `placeholder:"FILE" help:"Put the matrix between the <!-- matrix --> marks of a Markdown file."`
	Examples string `default:"counterexamples" placeholder:"FOLDER" help:"Where counterexamples are kept (${default})."`

	Merge string `placeholder:"FILE" help:"Keep the cells of this matrix (JSON) that are not computed now."`

	Replay string `placeholder:"SCHEDULE" help:"${Replay}"`
	Quiet  bool   `short:"q" help:"No progress."`
	Part   []int  `hidden:""` // the index of this process, from 0, and the count of processes that share the proof

	checkedProof
	MySQLDSN string `name:"mysql-dsn" env:"SECKILL_PROVE_MYSQL_DSN" placeholder:"DSN" help:"${ProveMySQL}"`
	Topology string `default:"single" enum:"single,cluster" help:"Redis: ${enum} (strategies of Redis only)."`
}

// A checkedProof holds what Validate has found in the flags.
type checkedProof struct {
	chosen  []catalog.Info
	old     *prove.Matrix // the matrix in the file that --merge names; nil if there is none
	example game.Example  // the schedule that --replay names
	info    catalog.Info  // the strategy of the schedule that --replay names
}

// These are the exit statuses of seckill prove besides statusFailed and statusUsage.
const (
	statusDiffers  = 10 // an answer is not as expected, or the replayed schedule breaks no rule
	statusDiverged = 11 // the strategy sends other commands than the replayed schedule contains
)

func (*ProveCmd) Help() string {
	return fmt.Sprintf(`A schedule is one interleaving of the buyers' backend commands, run to its end on real servers.
In the table:

  ✓    holds in all schedules of the question's scenarios: each was run, or is equivalent to one that was
  (✓)  holds in the schedules that were tried, and there are others: --schedules tries more of them
  ✗    breaks, and a counterexample of each rule is kept
  •    was measured
  –    does not apply

Exit status: 0 every answer, and every rule that breaks, is that of the matrix in this program (a strategy
that has no row there: the answers that it declares), 1 the proof could not be finished,
2 wrong command line, %[1]d an answer differs. With --replay: 0 the schedule breaks, %[1]d it breaks nothing,
%[2]d the strategy sends other commands than the schedule has.`, statusDiffers, statusDiverged)
}

func (c *ProveCmd) Validate() error {
	var err error
	if c.chosen, err = chosenStrategies(c.Strategies); err != nil {
		return err
	}
	switch {
	case c.Options.Budget <= 0:
		return errors.New("--budget must be longer than 0, such as 1m")
	case c.Options.Schedules < 1:
		return errors.New("--schedules must be 1 or more")
	case c.Merge != "" && c.Topology != lab.Single:
		return errors.New("--merge: the cells of a Cluster do not belong into the matrix of single servers")
	case c.Options.Workers < 1 || c.Options.Workers > 16:
		return errors.New("--workers must be 1 to 16")
	}
	if c.Topology != lab.Single {
		lacksRedis := func(i catalog.Info) bool { return !slices.Contains(i.Needs, backend.Redis) }
		c.chosen = slices.DeleteFunc(c.chosen, lacksRedis)
		if len(c.chosen) == 0 {
			return fmt.Errorf("--topology %s is Redis on several servers, and none of these strategies needs Redis",
				c.Topology)
		}
	}
	if err := (backend.Config{MySQLDSN: c.MySQLDSN}).Check(); err != nil {
		return err
	}
	if c.Replay != "" {
		c.example, c.info, err = c.toReplay()
		return err
	}
	if err := checkNames("--questions", c.Options.Questions, prove.QuestionIDs()); err != nil {
		return err
	}
	switch p := c.Part; {
	case len(p) == 2 && 0 <= p[0] && p[0] < p[1]: // the process that has started this one has checked the other flags
		return nil
	case p != nil:
		return errors.New("--part: leave this flag to seckill prove, which starts processes with it")
	}
	if c.old, err = c.readMerge(); err != nil {
		return err
	}
	// A proof takes long, so errors in the files' names are found before it begins.
	if c.Markdown != "" {
		if err := tables.CheckBlock(c.Markdown, prove.Block); err != nil {
			return fmt.Errorf("--markdown: %w", err)
		}
	}
	if info, err := os.Stat(c.Examples); err == nil && !info.IsDir() {
		return fmt.Errorf("--examples: %s is not a folder", c.Examples)
	}
	return c.outputForms(&prove.Matrix{}).checkPlaces()
}

func (c *ProveCmd) Run(ctx context.Context, stdout io.Writer, stderr stderrWriter) error {
	if c.Replay != "" {
		return c.replaySchedule(ctx, stdout)
	}
	if err := os.Mkdir(c.Examples, 0o777); err == nil {
		// If no counterexample was written, the folder is empty and is removed again.
		defer func() { _ = os.Remove(c.Examples) }()
	} else if err := os.MkdirAll(c.Examples, 0o777); err != nil {
		return fmt.Errorf("--examples: %w", err)
	}
	if c.Part != nil {
		return c.provePart(ctx, stdout, stderr)
	}
	begun := time.Now()
	m, err := c.computeMatrix(ctx, stderr)
	m.Took = time.Since(begun).Round(time.Second).String()
	differences, perr := c.findDifferences(m)
	if perr != nil {
		return errors.Join(err, perr)
	}
	if c.old != nil {
		switch same := m.SameProduct(c.old); {
		// If a server did not start, its product (MariaDB or MySQL) is unknown. Then err tells the real cause.
		case !same && err != nil:
			return err
		case !same:
			return fmt.Errorf("%s was computed on the other product (MariaDB or MySQL); "+
				"without --merge, seckill prove shows the differences", c.Merge)
		}
		took := m.Took
		m = prove.Merge(prove.Options{Infos: strategies.All(), Seed: m.Seed, Schedules: m.Schedules}, c.old, m)
		m.Took = took
	}
	if werr := c.outputForms(m).writeAll(stdout, m.WriteText); werr != nil {
		return errors.Join(err, werr)
	}
	if len(differences) > 0 && !c.Quiet {
		fmt.Fprintln(stderr, "\nUnexpected answers")
		for _, d := range differences {
			fmt.Fprintf(stderr, "  %s\n", d)
		}
	}
	switch {
	case err != nil:
		return fmt.Errorf("the proof was not finished: %w", err)
	case len(differences) > 0:
		return exitStatus(statusDiffers)
	}
	return nil
}

// findDifferences compares m with the published matrix, which is part of this program.
func (c *ProveCmd) findDifferences(m *prove.Matrix) ([]prove.Difference, error) {
	f, err := web.Guarantees().Open("matrix.json")
	if err != nil {
		return nil, err
	}
	defer f.Close()
	published, err := prove.ReadMatrix(f)
	if err != nil {
		return nil, fmt.Errorf("the published matrix: %w", err)
	}
	return m.Differences(published, c.chosen), nil
}

func (c *ProveCmd) readMerge() (*prove.Matrix, error) {
	if c.Merge == "" {
		return nil, nil
	}
	f, err := os.Open(c.Merge)
	if err != nil {
		return nil, fmt.Errorf("the matrix to merge into: %w", err)
	}
	defer f.Close()
	m, err := prove.ReadMatrix(f)
	if err == nil && (m.Seed != c.Options.Seed || m.Schedules != c.Options.Schedules) {
		err = fmt.Errorf("the matrix was computed with --seed %d --schedules %d: use the same, or compute all cells",
			m.Seed, m.Schedules)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", c.Merge, err)
	}
	return m, nil
}

func (c *ProveCmd) outputForms(m *prove.Matrix) forms {
	return forms{{"--json", c.JSON, tables.Report{JSON: m}.WriteJSON},
		{"--markdown", c.Markdown, tables.WithBlock(c.Markdown, prove.Block, m.WriteMarkdown)}}
}

// keepExample writes a counterexample to a file, and returns the file's name. The parameter rule is
// "" for the first counterexample of an answer (cell) of the matrix.
func (c *ProveCmd) keepExample(strategy, question, rule string, s *explore.Schedule) (string, error) {
	name := filepath.Join(c.Examples, strings.TrimSuffix(strategy+"."+question+"."+rule, ".")+".json")
	if err := writeFile(name, game.NewExample(strategy, question, s).Write); err != nil {
		return "", fmt.Errorf("keep a counterexample: %w", err)
	}
	return filepath.ToSlash(name), nil
}

func (c *ProveCmd) toReplay() (e game.Example, info catalog.Info, err error) {
	// The form STRATEGY:MOVES is a schedule of free play.
	if name, moves, written := strings.Cut(c.Replay, ":"); written {
		if info, err = strategyNamed("--replay", name); err != nil {
			return e, info, err
		}
		buyers := 2
		if strings.Contains(moves, "c") {
			buyers = 3
		}
		e = game.Example{Strategy: info.Name, Scenario: game.FreePlay(info, buyers, 2, 0).Scenario, Schedule: moves}
		e.Scenario.Name = "free play"
		_, err = game.ReadSchedule(e.Schedule)
		return e, info, err
	}
	files, file := web.Guarantees(), c.Replay+".json"
	if strings.HasSuffix(c.Replay, ".json") {
		files, file = os.DirFS(filepath.Dir(c.Replay)), filepath.Base(c.Replay)
	}
	f, err := files.Open(file)
	if err != nil {
		return e, info, fmt.Errorf("--replay: %q is no counterexample that can be read: "+
			"give STRATEGY.QUESTION of a ✗ in docs/guarantees.md, STRATEGY:MOVES, or FILE.json", c.Replay)
	}
	defer f.Close()
	if e, err = game.ReadExample(f); err == nil {
		info, err = strategyNamed("strategy", e.Strategy)
	}
	if err != nil {
		err = fmt.Errorf("%s: %w", c.Replay, err)
	}
	return e, info, err
}

func (c *ProveCmd) replaySchedule(ctx context.Context, stdout io.Writer) error {
	e := c.example
	ran, err := c.runAgain(ctx, c.info, e)
	if errors.Is(err, explore.ErrDiverged) {
		fmt.Fprintf(stdout, "%s does not fit any more: %v\n", c.Replay, err)
		if e.Question != "" {
			fmt.Fprintf(stdout, "Compute it again: seckill prove --strategies %s --questions %s\n",
				e.Strategy, e.Question)
		}
		return exitStatus(statusDiverged)
	}
	if err != nil {
		return err
	}
	now := game.NewExample(e.Strategy, e.Question, ran)
	if err := now.WriteSteps(stdout); err != nil {
		return err
	}
	var rules []string
	for _, p := range e.Problems {
		if slices.ContainsFunc(now.Problems, func(q explore.Problem) bool { return q.Rule == p.Rule }) {
			fmt.Fprintf(stdout, "It still breaks: %s.\n", p.Rule)
			return nil
		}
		rules = append(rules, p.Rule)
	}
	switch {
	case e.Problems != nil:
		fmt.Fprintf(stdout, "It does not break any more: the file says %s.\n", strings.Join(rules, ", "))
	case len(now.Problems) > 0:
		fmt.Fprintf(stdout, "It breaks: %s.\n", now.Problems[0].Rule)
		return nil
	default:
		fmt.Fprintln(stdout, "It breaks nothing.")
	}
	return exitStatus(statusDiffers)
}

func (c *ProveCmd) runAgain(ctx context.Context, info catalog.Info, e game.Example) (_ *explore.Schedule, err error) {
	choices, err := game.ReadSchedule(e.Schedule)
	if err != nil {
		return nil, err
	}
	servers, err := c.startServers(ctx, info)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, stopLab(servers)) }()
	if e.Question == prove.NodeLossQuestion {
		losing, err := losingLab(ctx)
		if err != nil {
			return nil, err
		}
		defer func() { _ = stopLab(losing) }()
		return prove.LoseNode(ctx, info, prove.Servers{Lab: servers, Losing: losing}, choices)
	}
	w, err := explore.Open(ctx, info, servers.Config().Only(info.Uses()...), explore.Options{})
	if err != nil {
		return nil, err
	}
	defer w.Close()
	return w.Replay(ctx, &e.Scenario, choices)
}

// losingLab returns a lab whose nodes can be stopped. It starts an ensemble when one is first needed. All workers share
// this lab, because its ensembles have about a dozen servers.
func losingLab(ctx context.Context) (*lab.Lab, error) {
	return lab.Start(ctx, lab.Options{Host: thisHost(), Backends: []string{}, Topology: lab.Losable})
}

func (c *ProveCmd) startServers(ctx context.Context, infos ...catalog.Info) (*lab.Lab, error) {
	l, err := lab.Start(ctx, lab.Options{Host: thisHost(), Backends: serversFor(infos...), Volatile: true,
		Topology: c.Topology, Given: backend.Config{MySQLDSN: c.MySQLDSN}})
	if err != nil {
		return nil, err
	}
	for _, s := range l.Backends() {
		if s.Name == backend.NameMySQL && (!s.OK || s.Tier == backend.Embedded) {
			return nil, errors.Join(stopLab(l), errors.New("a proof needs a real MySQL or MariaDB: install one "+
				"(seckill doctor says how), or give --mysql-dsn"))
		}
	}
	return l, nil
}
