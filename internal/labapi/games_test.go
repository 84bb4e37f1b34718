package labapi

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
)

// What servers say is for the log: it names addresses.
func TestPlayersAreNotToldAddresses(t *testing.T) {
	var log bytes.Buffer
	s := New(Config{Log: slog.New(slog.NewTextHandler(&log, nil))})
	defer func() { _ = s.Close(context.Background()) }()
	told := s.ofGame(errors.New("dial tcp 10.1.2.3:3306: connection refused")).Error()
	if !strings.Contains(told, "begin the game again") || strings.Contains(told, "10.1.2.3") {
		t.Errorf("a player is told %q", told)
	}
	if !strings.Contains(log.String(), "10.1.2.3") {
		t.Errorf("the log says %q", log.String())
	}
}
