//go:build verify

package game_test

import "testing"

// This is TestServersAnswerAsRecorded with a hundred schedules of each level.
func TestServersAnswerAsRecordedAtLength(t *testing.T) {
	playLevels(t, 100)
}
