package game_test

import (
	"errors"
	"io/fs"
	"math/rand/v2"
	"strings"
	"testing"

	"golang.org/x/sync/errgroup"

	"seckill/internal/backend"
	"seckill/internal/game"
	"seckill/internal/lab/labtest"
	"seckill/strategies"
	"seckill/web"
)

// recordingOf reads the recording of a level; nil if it has none.
func recordingOf(t *testing.T, level *game.Level) *game.Recording {
	t.Helper()
	f, err := web.Recordings().Open(level.Name + ".json.gz")
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	labtest.Must(t, err)
	defer f.Close()
	r, err := game.ReadRecording(f)
	labtest.Must(t, err)
	return r
}

// The servers still answer as each level's recording says: to the moves of the known solution or, where there
// is none, to some that are chosen by chance. `seckill play --record web/recordings` records them again.
func TestServersAnswerAsRecorded(t *testing.T) {
	playRecordings(t, 1)
}

// playRecordings plays so many schedules of each recording on servers.
func playRecordings(t *testing.T, schedules int) {
	var needs []backend.Capability
	for _, level := range game.Levels() {
		needs = append(needs, strategies.Named(level.Setting.Strategy).Uses()...)
	}
	servers := labtest.Start(t, needs...).Config()
	played := 0
	var all errgroup.Group
	all.SetLimit(6)
	for _, level := range game.Levels() {
		r := recordingOf(t, level)
		if r == nil {
			continue
		}
		played++
		if r.Level != level.Name || r.Recorded == "" || len(r.Servers) == 0 {
			t.Errorf("%s: its recording is of %q, %q, on %q", level.Name, r.Level, r.Recorded, r.Servers)
		}
		all.Go(func() error {
			g, err := game.Open(t.Context(), servers, strategies.Named(level.Setting.Strategy), level.Setting, level, "")
			if err != nil {
				t.Errorf("%s: %v", level.Name, err)
				return nil
			}
			chance := rand.New(rand.NewPCG(1, uint64(level.Number)))
			for n := range min(schedules, r.Schedules) {
				err := r.Check(t.Context(), g, func(schedule string, moves []string) string {
					if rest, onWay := strings.CutPrefix(level.Schedule, schedule); n == 0 && onWay && rest != "" {
						for _, move := range moves { // the letters of no move begin those of another
							if strings.HasPrefix(rest, move) {
								return move
							}
						}
					}
					return moves[chance.IntN(len(moves))]
				})
				if err != nil {
					t.Error(err)
					break
				}
			}
			if err := g.Close(t.Context()); err != nil {
				t.Errorf("%s: %v", level.Name, err)
			}
			return nil
		})
	}
	_ = all.Wait()
	if played < 3 {
		t.Errorf("only %d levels are recorded", played)
	}
}
