package game

import (
	"cmp"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"time"

	"seckill/internal/backend"
	"seckill/internal/catalog"
	"seckill/internal/explore"
)

// A Recording holds what real servers answered to the moves of a level, so that it can be played without them.
// Equal parts and equal positions are stored once: buyers whose commands do not touch each other reach the same
// position by many schedules.
type Recording struct {
	Level    string   `json:"level"`
	Recorded string   `json:"recorded"` // day
	Servers  []string `json:"servers"`  // name and version
	Whole    bool     `json:"whole"`    // every schedule was recorded
	// Turns bounds the schedules of a recording that is not whole: a turn is a fault, or an interruption of a
	// buyer who could go on, and moves of the known solution are none.
	Turns     int        `json:"turns"`
	Schedules int        `json:"schedules"` // that were played
	Parts     partTable  `json:"parts"`
	Positions []Position `json:"positions"` // an edge leads to an earlier one; the game begins at the last
}

// A Position is a state of the game, without what led to it. Numbers are indexes of parts.
type Position struct {
	Buyers     []int  `json:"b"`
	Values     []int  `json:"v"`
	FaultsLeft int    `json:"f,omitempty"`
	Verdict    *int   `json:"e,omitempty"` // nil until the game is over
	Edges      []Edge `json:"m,omitempty"` // in the order of the moves' letters
}

// An Edge is a move, and what it leads to.
type Edge struct {
	Move    int   `json:"m"`
	Steps   []int `json:"s,omitempty"` // that happened
	Changed []int `json:"c,omitempty"` // earlier steps as they are now: a command that waited has its answer
	Takes   []int `json:"t,omitempty"` // which moves of the next position take the turn from a buyer who could go on
	To      int   `json:"p"`           // -1: it was not recorded
}

// A partTable has each part of a state once.
type partTable struct {
	list  []json.RawMessage
	index map[string]int
}

func (t *partTable) add(v any) int {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err) // states are plain data
	}
	text = serialNumber.ReplaceAll(text, []byte("$1-1"))
	text = revision.ReplaceAll(text, []byte("${1}1"))
	i, found := t.index[string(text)]
	if !found {
		if t.index == nil {
			t.index = map[string]int{}
		}
		i = len(t.list)
		t.index[string(text)], t.list = i, append(t.list, text)
	}
	return i
}

// Numbers that differ from run to run: what a client adds to its own name for each of its locks, and etcd's
// revision of a key.
var (
	serialNumber = regexp.MustCompile(`\b(t\d+)-\d+\b`)
	revision     = regexp.MustCompile(`(create\([^)]*\) = )[1-9]\d*`)
)

func addAll[T any](t *partTable, list []T) (indexes []int) {
	for _, v := range list {
		indexes = append(indexes, t.add(v))
	}
	return indexes
}

func (t partTable) MarshalJSON() ([]byte, error) { return json.Marshal(t.list) }

func (t *partTable) UnmarshalJSON(text []byte) error {
	var list []json.RawMessage
	err := json.Unmarshal(text, &list)
	for _, part := range list {
		t.add(part)
	}
	return err
}

// RecordLimits bound one level's recording.
type RecordLimits struct {
	Time time.Duration
	Size int // bytes, compressed
}

// Record plays a level on servers: first the schedules with few turns, then those with more, until all are
// recorded or a limit is reached.
func Record(ctx context.Context, config backend.Config, info catalog.Info, level *Level, limits RecordLimits) (_ *Recording, err error) {
	g, err := Open(ctx, config, info, level.Setting, level, "")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, g.Close(ctx)) }()
	r := &recorder{game: g, solution: movesIn(level.Schedule), due: map[int][][]string{0: {nil}}}
	end := time.Now().Add(limits.Time)
	var best *Recording
	for turns := 0; len(r.due) > 0; turns++ {
		for len(r.due[turns]) > 0 {
			last := len(r.due[turns]) - 1
			moves := r.due[turns][last]
			r.due[turns] = r.due[turns][:last]
			if err := r.play(ctx, moves); err != nil {
				return nil, fmt.Errorf("record %s: %w", level.Name, err)
			}
			if best != nil && time.Now().After(end) {
				return best, nil
			}
		}
		delete(r.due, turns)
		now := r.pack(level, turns)
		var size byteCounter
		if err := now.Write(&size); err != nil {
			return nil, err
		}
		if best != nil && int(size) > limits.Size {
			return best, nil
		}
		best = now
	}
	best.Whole = true
	return best, nil
}

type byteCounter int

func (c *byteCounter) Write(p []byte) (int, error) {
	*c += byteCounter(len(p))
	return len(p), nil
}

// A recorder plays schedules, and keeps what came of them as a tree.
type recorder struct {
	game      *Game
	solution  []string
	parts     partTable
	root      *position
	due       map[int][][]string // schedules that begin with a move not made yet, by their turns
	schedules int
}

// A position of the tree.
type position struct {
	Position // without edges
	steps    []int
	moves    []moveSeen
	turns    int // on the way here
	next     map[string]*position
}

// A moveSeen is a move that was possible.
type moveSeen struct {
	part    int
	name    string
	takes   bool // the turn from a buyer who could go on
	isFault bool
}

// movesIn splits a schedule into its moves.
func movesIn(schedule string) (moves []string) {
	choices, _ := ParseSchedule(schedule) // of a level: it was read before
	for _, c := range choices {
		moves = append(moves, FormatSchedule(c))
	}
	return moves
}

// positionOf returns the state of the game in parts.
func (r *recorder) positionOf(s State) *position {
	p := &position{next: map[string]*position{}, steps: addAll(&r.parts, s.Steps)}
	p.FaultsLeft, p.Buyers, p.Values = s.FaultsLeft, addAll(&r.parts, s.Actors), addAll(&r.parts, s.Values)
	if s.Verdict != nil {
		p.Verdict = new(r.parts.add(s.Verdict))
	}
	for _, m := range s.Moves {
		seen := moveSeen{name: m.Move, takes: m.Switches, isFault: m.Fault != "" && m.Fault != explore.TimePasses}
		m.Switches = false
		seen.part = r.parts.add(m)
		p.moves = append(p.moves, seen)
	}
	slices.SortFunc(p.moves, func(a, b moveSeen) int { return cmp.Compare(a.name, b.name) })
	return p
}

// play plays these moves, and then on to the end with as few turns as possible. What was recorded before must
// come again.
func (r *recorder) play(ctx context.Context, moves []string) error {
	r.schedules++
	var at *position
	return r.game.follow(ctx, func(s State) (move string, err error) {
		now, path := r.positionOf(s), movesIn(s.Schedule)
		known := r.root
		if at != nil {
			known = at.next[path[len(path)-1]]
		}
		switch {
		case known != nil:
		case at == nil:
			known, r.root = now, now
			r.awaitOthers(now, path)
		default:
			made, before := path[len(path)-1], path[:len(path)-1]
			known, at.next[made] = now, now
			now.turns = r.turnsTo(at, before, made)
			r.awaitOthers(now, path)
		}
		at = known
		if err := r.compare(at, now); err != nil {
			return "", fmt.Errorf("after %s the servers answered otherwise than before: %w", s.Schedule, err)
		}
		if len(path) < len(moves) {
			return moves[len(path)], nil
		}
		return r.cheapest(at, path), nil
	})
}

// follow begins the game again, and makes the moves that choose returns, until the game is over.
func (g *Game) follow(ctx context.Context, choose func(State) (move string, err error)) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if err := g.replayMoves(ctx, nil); err != nil {
		return err
	}
	for {
		s := g.currentState()
		move, err := choose(s)
		if err != nil || s.Over {
			return err
		}
		choice, err := readMove(move)
		if err == nil {
			err = g.makeMove(ctx, choice)
		}
		if err != nil {
			return err
		}
	}
}

// compare says in what two positions differ; nil: in nothing.
func (r *recorder) compare(want, got *position) error {
	text := func(indexes []int) string {
		var b strings.Builder
		for _, i := range indexes {
			fmt.Fprintf(&b, "\n  %s", r.parts.list[i])
		}
		return b.String()
	}
	moves := func(p *position) (parts []int) {
		for _, m := range p.moves {
			parts = append(parts, m.part)
		}
		return parts
	}
	verdict := func(p *position) []int {
		if p.Verdict == nil {
			return nil
		}
		return []int{*p.Verdict}
	}
	for _, part := range []struct {
		name      string
		want, got []int
	}{
		{"buyers", want.Buyers, got.Buyers}, {"values", want.Values, got.Values}, {"steps", want.steps, got.steps},
		{"moves", moves(want), moves(got)}, {"verdict", verdict(want), verdict(got)},
	} {
		if !slices.Equal(part.want, part.got) {
			return fmt.Errorf("the %s were%s\nand are%s", part.name, text(part.want), text(part.got))
		}
	}
	return nil
}

// awaitOthers notes the moves of a new position, all but the one with which the play goes on.
func (r *recorder) awaitOthers(p *position, path []string) {
	goesOn := r.cheapest(p, path)
	for _, m := range p.moves {
		if m.name != goesOn {
			turns := r.turnsTo(p, path, m.name)
			r.due[turns] = append(r.due[turns], append(slices.Clone(path), m.name))
		}
	}
}

// cheapest returns the move that needs the fewest turns; "" if the game is over.
func (r *recorder) cheapest(p *position, path []string) (move string) {
	for _, m := range p.moves {
		if move == "" || r.turnsTo(p, path, m.name) < r.turnsTo(p, path, move) {
			move = m.name
		}
	}
	return move
}

// turnsTo counts the turns up to a move. The solution's own moves are none.
func (r *recorder) turnsTo(p *position, path []string, move string) int {
	if n := len(path); n < len(r.solution) && r.solution[n] == move && slices.Equal(path, r.solution[:n]) {
		return p.turns
	}
	i := slices.IndexFunc(p.moves, func(m moveSeen) bool { return m.name == move })
	if m := p.moves[i]; m.takes || m.isFault {
		return p.turns + 1
	}
	return p.turns
}

// pack makes a recording of the positions that so many turns lead to.
func (r *recorder) pack(level *Level, turns int) *Recording {
	p := packer{&Recording{Level: level.Name, Turns: turns, Schedules: r.schedules, Parts: partTable{list: slices.Clone(r.parts.list)}},
		turns, map[string]int{}}
	p.add(r.root)
	return p.Recording
}

type packer struct {
	*Recording
	turns int
	known map[string]int // positions
}

// add adds a position behind those that it leads to, and returns its index.
func (p *packer) add(at *position) int {
	packed := at.Position
	for _, m := range at.moves {
		e := Edge{Move: m.part, To: -1}
		if next := at.next[m.name]; next != nil && next.turns <= p.turns {
			e.To = p.add(next)
			e.Steps = next.steps[len(at.steps):]
			for i, part := range at.steps {
				if next.steps[i] != part {
					e.Changed = append(e.Changed, next.steps[i])
				}
			}
			for i, m := range next.moves {
				if m.takes {
					e.Takes = append(e.Takes, i)
				}
			}
		}
		packed.Edges = append(packed.Edges, e)
	}
	text, _ := json.Marshal(packed) // numbers
	i, found := p.known[string(text)]
	if !found {
		i = len(p.Positions)
		p.known[string(text)], p.Positions = i, append(p.Positions, packed)
	}
	return i
}

// Write writes the recording compressed.
func (r *Recording) Write(w io.Writer) error {
	packed, err := gzip.NewWriterLevel(w, gzip.BestCompression)
	if err != nil {
		return err
	}
	return errors.Join(json.NewEncoder(packed).Encode(r), packed.Close())
}

// ReadRecording reads what Write wrote.
func ReadRecording(r io.Reader) (*Recording, error) {
	packed, err := gzip.NewReader(r)
	if err != nil {
		return nil, err
	}
	var recording Recording
	return &recording, json.NewDecoder(packed).Decode(&recording)
}

// Check plays schedules on servers and fails if one answer differs from the recording. choose returns the next
// move of a schedule, from those that were recorded.
func (r *Recording) Check(ctx context.Context, g *Game, choose func(schedule string, moves []string) string) error {
	seen := &recorder{parts: r.Parts}
	at, steps := len(r.Positions)-1, []int(nil)
	last := ""
	return g.follow(ctx, func(s State) (string, error) {
		if last != "" {
			e := r.edge(at, last)
			at, steps = e.To, r.after(steps, e)
		}
		want := &position{Position: r.Positions[at], steps: steps}
		var moves []string
		for _, e := range r.Positions[at].Edges {
			want.moves = append(want.moves, moveSeen{part: e.Move})
			if e.To >= 0 {
				moves = append(moves, r.moveOf(e))
			}
		}
		if err := seen.compare(want, seen.positionOf(s)); err != nil {
			return "", fmt.Errorf("%s was recorded on %s, on %s. After %q the servers answer otherwise: %w",
				r.Level, r.Recorded, strings.Join(r.Servers, ", "), s.Schedule, err)
		}
		if !s.Over {
			last = choose(s.Schedule, moves)
		}
		return last, nil
	})
}

func (r *Recording) moveOf(e Edge) string {
	var m Move
	_ = json.Unmarshal(r.Parts.list[e.Move], &m) // a move, as Record wrote it
	return m.Move
}

func (r *Recording) edge(at int, move string) Edge {
	edges := r.Positions[at].Edges
	return edges[slices.IndexFunc(edges, func(e Edge) bool { return r.moveOf(e) == move })]
}

// after returns the steps as they are after an edge. A changed step takes the place of the latest one that is
// the same command.
func (r *Recording) after(steps []int, e Edge) []int {
	steps = slices.Clone(steps)
	for _, changed := range e.Changed {
		for i := len(steps) - 1; i >= 0; i-- {
			if r.sameCommand(steps[i], changed) {
				steps[i] = changed
				break
			}
		}
	}
	return append(steps, e.Steps...)
}

func (r *Recording) sameCommand(a, b int) bool {
	var one, other explore.Step
	_ = json.Unmarshal(r.Parts.list[a], &one)
	_ = json.Unmarshal(r.Parts.list[b], &other)
	return one.Choice == other.Choice && one.Command == other.Command
}
