// Package loadtest lets many buyers storm a sale over HTTP and then judges
// the run from the ledger and from what every buyer was told. It is a library;
// the seckill program and its page only call it.
package loadtest

import (
	"context"
	"time"

	"seckill/internal/ledger"
)

// A Config is one load run.
type Config struct {
	Targets     []string // base URLs of service processes; requests go round-robin
	Strategy    string
	SKU         int64
	Stock       int64 // the SKU is reset to this many units first
	Buyers      int   // distinct users, one purchase each
	Concurrency int   // buyers at a time
	Quantity    int64 // units each buyer asks for
	AdminToken  string
	Timeout     time.Duration // a buyer gives up after this long: unknown
	Seed        uint64        // user ids and their order follow from it

	// Ledger reads the stores. Nil: the service is asked for its ledger.
	Ledger Ledger
	// OnProgress, if not nil, is called about ten times a second and once at
	// the end, from one goroutine.
	OnProgress func(Progress)
}

// A Ledger is where the verdict comes from.
type Ledger interface {
	Snapshot(ctx context.Context, sku int64) (ledger.Snapshot, error)
}

// Progress is a run as it stands now.
type Progress struct {
	Elapsed  time.Duration          `json:"elapsed_ns"`
	Requests int                    `json:"requests"` // answered or given up
	Buyers   int                    `json:"buyers"`   // in all
	Counts   map[ledger.Outcome]int `json:"counts"`
	Units    int64                  `json:"units"` // told sold, so far
	Left     int64                  `json:"left"`  // stock as last told
	Rate     float64                `json:"rate"`  // requests a second, over the last interval
	P50      float64                `json:"p50_ms"`
	P99      float64                `json:"p99_ms"`
}
