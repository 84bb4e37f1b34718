package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"seckill/internal/backend"
	"seckill/internal/catalog"
	"seckill/internal/game"
	"seckill/internal/guards"
	"seckill/strategies"
)

// playable are the strategies, and the variants of the exercises.
func playable() []catalog.Info { return slices.Concat(strategies.All(), guards.All()) }

func (c *PlayCmd) validateDefend() error {
	if c.Level != "" || c.Strategy != "" || c.Schedule != "" {
		return errors.New("--defend goes with --guard alone: leave out --level, --strategy and --schedule")
	}
	p := game.DefenceNamed(c.Defend)
	if p == nil {
		return fmt.Errorf("--defend: there is no exercise %q; seckill level list lists them", c.Defend)
	}
	if c.Guard != "" && p.Variant(c.Guard) == "" {
		return fmt.Errorf("--guard: %s has no choice %q: give one of %s", c.Defend, c.Guard, strings.Join(p.Names(), ", "))
	}
	return nil
}

// defend shows an exercise, and attacks the guard that is chosen.
func (c *PlayCmd) defend(ctx context.Context, stdin io.Reader, stdout, stderr io.Writer) error {
	post := game.DefenceNamed(c.Defend)
	all := playable()
	var infos []catalog.Info
	for _, name := range post.Names() {
		infos = append(infos, all[slices.IndexFunc(all, func(i catalog.Info) bool { return i.Name == post.Variant(name) })])
	}
	if c.Guard == "" {
		if err := c.choose(post, stdin, stdout); err != nil || c.Guard == "" {
			return err
		}
	}
	servers, leave, err := gameServers(ctx, stderr, c.Given, infos...)
	if err != nil {
		return err
	}
	defer leave()
	fmt.Fprintf(stdout, "The explorer attacks %s …\n", c.Guard)
	a, err := game.AttackChoice(ctx, servers, all, post, c.Guard)
	if err != nil {
		return err
	}
	switch a.State {
	case game.AttackHeld:
		fmt.Fprintf(stdout, "It held: %s. %s\n", howMany(a), a.Why[c.Language])
		return nil
	case game.AttackUndecided:
		fmt.Fprintf(stdout, "Undecided: %d schedules were run within %v, which is not all, and none broke it. Try again when the machine is idle.\n",
			a.Schedules, game.AttackLimit)
		return exitStatus(statusNotWon)
	}
	fmt.Fprintf(stdout, "It is broken (%s), by the schedule %s:\n", strings.Join(a.Rules, ", "), a.Schedule)
	if err := c.replay(ctx, servers, all, post, a.Schedule, stdout); err != nil {
		return err
	}
	fmt.Fprintln(stdout, a.Why[c.Language])
	return exitStatus(statusNotWon)
}

// howMany says what an attack that held has tried.
func howMany(a game.Attack) string {
	if a.Preemptions < 0 {
		return fmt.Sprintf("all %d schedules were run", a.Schedules)
	}
	return fmt.Sprintf("all %d schedules with at most %d preemptions were run", a.Schedules, a.Preemptions)
}

// choose shows the code and its repairs, and asks which it shall be.
func (c *PlayCmd) choose(post *game.Post, stdin io.Reader, stdout io.Writer) error {
	d, err := post.WithCode(playable())
	if err != nil {
		return err
	}
	text := d.Text[c.Language]
	fmt.Fprintf(stdout, "%d. %s\n%s\n\n    %s\n", d.Number, text.Title, text.Goal, strings.Join(d.Code, "\n    "))
	for _, choice := range d.Choices {
		fmt.Fprintf(stdout, "\n%s: %s\n", choice.Name, choice.Label[c.Language])
		for _, line := range choice.Lines {
			if line.Mark != "" {
				fmt.Fprintf(stdout, "  %s %s\n", line.Mark, line.Text)
			}
		}
	}
	lines := bufio.NewScanner(stdin)
	for {
		fmt.Fprint(stdout, "\nWhich guard? > ")
		if !lines.Scan() {
			fmt.Fprintln(stdout)
			return lines.Err()
		}
		switch typed := strings.TrimSpace(lines.Text()); {
		case post.Variant(typed) != "":
			c.Guard = typed
			return nil
		case typed == "quit":
			return nil
		case typed == "hint":
			fmt.Fprintln(stdout, text.Hint)
		default:
			fmt.Fprintf(stdout, "Give one of %s, or hint, or quit.\n", strings.Join(post.Names(), ", "))
		}
	}
}

// replay plays a schedule that breaks a guard.
func (c *PlayCmd) replay(ctx context.Context, servers backend.Config, all []catalog.Info, post *game.Post, moves string, stdout io.Writer) (err error) {
	setting := post.On(c.Guard)
	info := all[slices.IndexFunc(all, func(i catalog.Info) bool { return i.Name == setting.Strategy })]
	g, err := game.Open(ctx, servers, info, setting, nil, moves)
	if err != nil {
		return err
	}
	defer func() {
		ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), 20*time.Second)
		defer cancel()
		err = errors.Join(err, g.Close(ending))
	}()
	t, s := table{stdout, nil, c.Language}, g.State()
	for i := range s.Steps {
		t.step(i+1, s.Steps[i])
	}
	t.end(s)
	return nil
}
