//go:build unix

package e2e

import (
	"os"
	"testing"

	"seckill/internal/lab/labtest"
)

func TestMain(m *testing.M) {
	labtest.HearSignals()
	os.Exit(m.Run())
}
