package game

import (
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
)

// A Tour plays the schedules of a recording until it has made every recorded move of every position.
type Tour struct {
	Recording *Recording
	made      map[[2]int]bool // position and move
}

// Left reports whether a move was not made yet.
func (t *Tour) Left() bool { return t.leadOn()[len(t.Recording.Positions)-1] }

// leadOn returns for each position whether a move there or after it was not made yet.
func (t *Tour) leadOn() []bool {
	list := make([]bool, len(t.Recording.Positions))
	for i, p := range t.Recording.Positions {
		for j, e := range p.Edges {
			list[i] = list[i] || e.To >= 0 && (!t.made[[2]int{i, j}] || list[e.To])
		}
	}
	return list
}

// next returns the index of the next move at a position: the first one of solution, or one that was not made yet, or
// one that leads to such a move, or any that was recorded; -1 if none was.
func (t *Tour) next(at int, solution string) int {
	leads, best, rank := t.leadOn(), -1, -1
	for j, e := range t.Recording.Positions[at].Edges {
		now := 0
		switch name := t.Recording.nameOf(e); {
		case e.To < 0:
			continue
		case solution != "" && strings.HasPrefix(solution, name):
			now = 3 // no move's letters are the beginning of another move's letters
		case !t.made[[2]int{at, j}]:
			now = 2
		case leads[e.To]:
			now = 1
		}
		if now > rank {
			best, rank = j, now
		}
	}
	if t.made == nil {
		t.made = map[[2]int]bool{}
	}
	t.made[[2]int{at, best}] = true
	return best
}

// nameOf returns the letters of a move.
func (r *Recording) nameOf(e Edge) string {
	var m Move
	_ = json.Unmarshal(r.Parts.list[e.Move], &m) // cannot fail: Record wrote this move
	return m.Move
}

// Play plays a schedule on servers and fails if one answer differs from the recording. The schedule begins with
// solution, as far as that was recorded.
func (t *Tour) Play(ctx context.Context, g *Game, solution string) error {
	r, errEnd := t.Recording, errors.New("the recording ends here")
	seen := &recorder{parts: r.Parts}
	var before *position
	at, made := len(r.Positions)-1, Edge{}
	err := g.follow(ctx, func(s State) (string, error) {
		now := seen.positionOf(s)
		if before != nil {
			at = made.To
			happened := before.edgeTo(now)
			happened.Move, happened.To = made.Move, made.To
			if got, want := asJSON(happened), asJSON(made); got != want {
				return "", fmt.Errorf("after %q: the move is %s, and was recorded as %s", s.Schedule, got, want)
			}
		}
		edges := r.Positions[at].Edges
		want := &position{Position: r.Positions[at], steps: now.steps}
		for _, e := range edges {
			want.moves = append(want.moves, moveSeen{part: e.Move})
		}
		if err := seen.compare(want, now); err != nil {
			return "", fmt.Errorf("%s was recorded on %s, on %s. After %q the servers answer otherwise: %w",
				r.Level, r.Recorded, strings.Join(r.Servers, ", "), s.Schedule, err)
		}
		if s.Over {
			return "", nil
		}
		rest, onWay := strings.CutPrefix(solution, s.Schedule)
		if !onWay {
			rest = ""
		}
		next := t.next(at, rest)
		if next < 0 {
			return "", errEnd
		}
		before, made = now, edges[next]
		return r.nameOf(made), nil
	})
	if errors.Is(err, errEnd) {
		return nil
	}
	return err
}

func asJSON(e Edge) string {
	text, _ := json.Marshal(e) // numbers
	return string(text)
}

func (t *partTable) UnmarshalJSON(text []byte) error {
	var list []json.RawMessage
	err := json.Unmarshal(text, &list)
	for _, part := range list {
		t.add(part)
	}
	return err
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
