package game

import (
	"bytes"
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
	"seckill/internal/explore/policy"
)

// A Recording has the answers of real servers to the moves of a level, so that the level can be played without
// servers. Equal parts and equal positions are stored only once. Many schedules lead to the same position, because
// the order of commands that do not affect each other makes no difference.
type Recording struct {
	Level    string   `json:"level"`
	Recorded string   `json:"recorded"` // the date
	Servers  []string `json:"servers"`  // name and version of each server
	Whole    bool     `json:"whole"`    // true if all schedules of the level were recorded
	// Turns is set if Whole is false: the recording then has all schedules with at most this number of turns. A turn
	// is a fault, or a move that lets another buyer continue although the buyer of the last move could. Moves of the
	// known solution are not counted as turns.
	Turns     int       `json:"turns"`
	Schedules int       `json:"schedules"` // number of schedules that were played
	Parts     partTable `json:"parts"`
	// Positions lists each position after the positions to which its edges lead. So the start of the game comes last.
	Positions []Position `json:"positions"`
}

// A Position is a state of the game, without the moves that led to it. The numbers in Buyers, Values and Verdict are
// indexes of Recording.Parts.
type Position struct {
	Buyers     []int  `json:"b"`
	Values     []int  `json:"v"`
	FaultsLeft int    `json:"f,omitempty"`
	Verdict    *int   `json:"e,omitempty"` // nil until the game is over
	Edges      []Edge `json:"m,omitempty"` // sorted by the letters of their moves
}

// An Edge is a move from one position to the next. Move, Steps and Changed are indexes of Recording.Parts.
type Edge struct {
	Move    int   `json:"m"`
	Steps   []int `json:"s,omitempty"` // the steps that the move has added
	Changed []int `json:"c,omitempty"` // earlier steps whose text has changed, because a waiting command was answered
	// Takes has the indexes of those edges of the next position that are preemptions. A preemption lets another buyer
	// continue although the buyer of this move could continue, too.
	Takes []int `json:"t,omitempty"`
	To    int   `json:"p"` // index of the next position in Recording.Positions; -1 if it was not recorded
}

// A partTable stores parts of a game's states, such as a buyer or a step. Equal parts are stored once.
type partTable struct {
	list  []json.RawMessage
	index map[string]int
}

func (t *partTable) add(v any) int {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err) // cannot happen: a state has only values that JSON can represent
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

// These expressions match numbers that differ from run to run, and that partTable.add replaces: the number that a
// client adds to its name for each of its locks, and etcd's revision of a key.
var (
	serialNumber = regexp.MustCompile(`\b(t\d+)-\d+\b`)
	revision     = regexp.MustCompile(`(create\([^)]*\) = )[1-9]\d*`)
)

func addAll[T any](t *partTable, list []T) []int {
	var indexes []int
	for _, v := range list {
		indexes = append(indexes, t.add(v))
	}
	return indexes
}

func (t partTable) MarshalJSON() ([]byte, error) { return json.Marshal(t.list) }

// RecordLimits limit the recording of one level.
type RecordLimits struct {
	Time time.Duration
	Size int // maximum size of the compressed recording in bytes
}

// Record plays a level on servers and records the answers. It begins with the schedules that have the fewest turns
// (see Recording.Turns), and ends when all are recorded or a limit is reached.
func Record(
	ctx context.Context, config backend.Config, info catalog.Info, level *Level, limits RecordLimits,
) (best *Recording, err error) {
	g, err := Open(ctx, config, info, level.Setting, level, "")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, g.Close(ctx)) }()
	r := &recorder{game: g, solution: level.Schedule, root: &position{next: map[string]*position{}}}
	end := time.Now().Add(limits.Time)
	order := &policy.Fewest{}
	for order.Begin() {
		turns, err := r.play(ctx, order)
		order.End(err)
		if err != nil {
			return nil, fmt.Errorf("record %s: %w", level.Name, err)
		}
		if best != nil && time.Now().After(end) {
			return best, nil
		}
		whole := order.Pending() == 0
		if !whole && order.CompleteUpTo() < turns {
			continue
		}
		now := r.pack(level, turns)
		now.Whole = whole
		var packed bytes.Buffer
		if err := now.Write(&packed); err != nil {
			return nil, err
		}
		if best != nil && packed.Len() > limits.Size {
			return best, nil
		}
		best = now
	}
	return best, nil
}

// A recorder plays schedules, and stores the positions that they reached as a tree.
type recorder struct {
	game      *Game
	solution  string
	parts     partTable
	root      *position // the root of the tree; its only edge, named "", leads to the first position
	schedules int
}

// A position is a node of the recorder's tree. The field next maps each move that was made from this position to the
// position to which the move led.
type position struct {
	Position // its Edges are empty
	steps    []int
	moves    []moveSeen
	turns    int // number of turns in the moves from the root to this position
	next     map[string]*position
}

type moveSeen struct {
	part   int
	name   string
	takes  bool          // the move lets another buyer continue although the buyer of the last move could
	option policy.Option // option.Preempts is true if the move counts as a turn (see Recording.Turns)
}

// positionOf divides the state s into parts and returns them as a position without edges.
func (r *recorder) positionOf(s State) *position {
	p := &position{next: map[string]*position{}, steps: addAll(&r.parts, s.Steps)}
	p.FaultsLeft, p.Buyers, p.Values = s.FaultsLeft, addAll(&r.parts, s.Actors), addAll(&r.parts, s.Values)
	if s.Verdict != nil {
		p.Verdict = new(r.parts.add(s.Verdict))
	}
	for _, m := range s.Moves {
		isTurn := m.Switches || m.Fault != "" && m.Fault != explore.TimePasses
		onSolution := strings.HasPrefix(r.solution, s.Schedule+m.Move)
		seen := moveSeen{name: m.Move, takes: m.Switches,
			option: policy.Option{Choice: m.Choice, Preempts: isTurn && !onSolution}}
		m.Switches = false
		seen.part = r.parts.add(m)
		p.moves = append(p.moves, seen)
	}
	slices.SortFunc(p.moves, func(a, b moveSeen) int { return cmp.Compare(a.name, b.name) })
	return p
}

// options returns the moves of p as options for a policy. Moves that count as turns come last.
func (p *position) options() []policy.Option {
	var list []policy.Option
	for _, turns := range []bool{false, true} {
		for _, m := range p.moves {
			if m.option.Preempts == turns {
				list = append(list, m.option)
			}
		}
	}
	return list
}

// play plays the next schedule that order chooses, and returns the number of its turns. If a move leads to a different
// position than in an earlier schedule, play returns an error.
func (r *recorder) play(ctx context.Context, order *policy.Fewest) (turns int, err error) {
	r.schedules++
	at, made := r.root, ""
	err = r.game.follow(ctx, func(s State) (string, error) {
		now := r.positionOf(s)
		if at.next[made] == nil {
			at.next[made], now.turns = now, turns
		}
		at = at.next[made]
		if err := r.compare(at, now); err != nil {
			return "", fmt.Errorf("after %s the servers answered otherwise than before: %w", s.Schedule, err)
		}
		if s.Over {
			return "", nil
		}
		options := at.options()
		i, err := order.Choose(options)
		if err != nil {
			return "", err
		}
		if options[i].Preempts {
			turns++
		}
		made = FormatSchedule(options[i].Choice)
		return made, nil
	})
	return turns, err
}

// follow begins the game again. It then makes the moves that the function choose returns, until the game is over.
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

// compare returns an error that describes the first difference of two positions, or nil.
func (r *recorder) compare(want, got *position) error {
	parts := func(p *position) map[string][]int {
		parts := map[string][]int{"buyers": p.Buyers, "values": p.Values, "steps": p.steps}
		for _, m := range p.moves {
			parts["moves"] = append(parts["moves"], m.part)
		}
		if p.Verdict != nil {
			parts["verdict"] = []int{*p.Verdict}
		}
		return parts
	}
	text := func(indexes []int) string {
		var b strings.Builder
		for _, i := range indexes {
			fmt.Fprintf(&b, "\n  %s", r.parts.list[i])
		}
		return b.String()
	}
	for _, name := range []string{"buyers", "values", "steps", "moves", "verdict"} {
		if was, is := parts(want)[name], parts(got)[name]; !slices.Equal(was, is) {
			return fmt.Errorf("the %s were%s\nand are%s", name, text(was), text(is))
		}
	}
	return nil
}

// pack makes a recording of all positions that can be reached with at most the given number of turns.
func (r *recorder) pack(level *Level, turns int) *Recording {
	packed := &Recording{Level: level.Name, Turns: turns, Schedules: r.schedules,
		Parts: partTable{list: slices.Clone(r.parts.list)}}
	known := map[string]int{} // the indexes of the positions; the keys are their JSON texts
	// The function add appends a position and returns its index. Before this position, it appends the positions to
	// which the edges lead.
	var add func(at *position) int
	add = func(at *position) int {
		p := at.Position
		for _, m := range at.moves {
			e := Edge{Move: m.part, To: -1}
			if next := at.next[m.name]; next != nil && next.turns <= turns {
				e = at.edgeTo(next)
				e.Move, e.To = m.part, add(next)
			}
			p.Edges = append(p.Edges, e)
		}
		text, _ := json.Marshal(p) // cannot fail: a Position has only numbers
		i, found := known[string(text)]
		if !found {
			i = len(packed.Positions)
			known[string(text)], packed.Positions = i, append(packed.Positions, p)
		}
		return i
	}
	add(r.root.next[""])
	return packed
}

// edgeTo returns the edge from the position p to the next position. The caller sets the fields Move and To.
func (p *position) edgeTo(next *position) Edge {
	e := Edge{Steps: next.steps[len(p.steps):]}
	for i, part := range p.steps {
		if next.steps[i] != part {
			e.Changed = append(e.Changed, next.steps[i])
		}
	}
	for i, m := range next.moves {
		if m.takes {
			e.Takes = append(e.Takes, i)
		}
	}
	return e
}

// Write writes the recording compressed.
func (r *Recording) Write(w io.Writer) error {
	packed, err := gzip.NewWriterLevel(w, gzip.BestCompression)
	if err != nil {
		return err
	}
	return errors.Join(json.NewEncoder(packed).Encode(r), packed.Close())
}
