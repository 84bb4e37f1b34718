//go:build verify

package game_test

import "testing"

// This is TestServersAnswerAsRecorded with every recorded move of every position.
func TestServersAnswerAsRecordedAtLength(t *testing.T) {
	playLevels(t, true)
}
