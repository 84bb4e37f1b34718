package prove

import (
	"context"
	"testing"

	"seckill/internal/explore"
)

// Two are inside at once only if the first has not been told otherwise.
func TestStorySeesTwoHolders(t *testing.T) {
	for name, c := range map[string]struct {
		between func(*story, context.CancelFunc)
		want    int
	}{
		"the first is inside": {func(*story, context.CancelFunc) {}, 1},
		"the first was told":  {func(_ *story, tell context.CancelFunc) { tell() }, 0},
		"the first has left":  {func(s *story, _ context.CancelFunc) { s.leaves("A") }, 0},
		"the first came a second time": {func(s *story, _ context.CancelFunc) {
			s.leaves("A")
			s.enters("A", t.Context())
		}, 1},
	} {
		s := newStory(1, &explore.Scenario{})
		first, tell := context.WithCancel(t.Context())
		s.enters("A", first)
		c.between(s, tell)
		s.enters("B", t.Context())
		if got := len(s.schedule.Overlaps); got != c.want {
			t.Errorf("%s: %d overlaps, want %d", name, got, c.want)
		}
		tell()
	}
}

// A poller repeats commands; the story does not.
func TestStoryLeavesRepetitionsOut(t *testing.T) {
	s := newStory(77, &explore.Scenario{})
	for _, command := range []string{"get stock:77", "get stock:77", "set stock:77", "get stock:77"} {
		n := s.tell(explore.Step{Choice: explore.Choice{Who: "A"}, Command: command})
		s.result(n, "")
	}
	var got []string
	for _, step := range s.schedule.Steps {
		got = append(got, step.Command)
	}
	if len(got) != 3 || got[0] != "get stock:1" || got[1] != "set stock:1" {
		t.Errorf("the story is %q, want three steps, with the SKU as 1", got)
	}
	for n := range 2 * storyLimit {
		s.tell(explore.Step{Choice: explore.Choice{Who: []string{"A", "B"}[n%2]}, Command: string(rune('a' + n%7))})
	}
	if len(s.schedule.Steps) != storyLimit {
		t.Errorf("%d steps, want %d", len(s.schedule.Steps), storyLimit)
	}
}
