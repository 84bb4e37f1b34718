package hot

import (
	"bytes"
	"compress/gzip"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"
)

// profileOfStacks is a profile in which each stack, the innermost function
// first, was met for so many nanoseconds.
func profileOfStacks(t *testing.T, packed bool, stacks map[string][]string, ns uint64) []byte {
	t.Helper()
	texts := []string{""}
	var body []byte
	put := func(into []byte, field protowire.Number, in []byte) []byte {
		return protowire.AppendBytes(protowire.AppendTag(into, field, protowire.BytesType), in)
	}
	number := func(into []byte, field protowire.Number, n uint64) []byte {
		return protowire.AppendVarint(protowire.AppendTag(into, field, protowire.VarintType), n)
	}
	next := uint64(0)
	for _, stack := range stacks {
		var sample, list []byte
		for _, function := range stack {
			next++
			texts = append(texts, function)
			body = put(body, profileFunctions, number(number(nil, functionID, next), functionName, uint64(len(texts)-1)))
			body = put(body, profileLocations, put(number(nil, locationID, next), locationLine, number(nil, lineFunction, next)))
			list = protowire.AppendVarint(list, next)
			if !packed {
				sample = number(sample, sampleLocations, next)
			}
		}
		if packed {
			sample = put(sample, sampleLocations, list)
		}
		sample = number(number(sample, sampleValues, 1), sampleValues, ns)
		body = put(body, profileSamples, sample)
	}
	for _, text := range texts {
		body = put(body, profileTexts, []byte(text))
	}
	var zipped bytes.Buffer
	z := gzip.NewWriter(&zipped)
	if _, err := z.Write(body); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return zipped.Bytes()
}

var stacks = map[string][]string{
	"garbage":             {"runtime.scanobject", "runtime.gcDrain", "runtime.gcBgMarkWorker", "runtime.goexit"},
	"waking and sleeping": {"runtime.futex", "runtime.findRunnable", "runtime.schedule", "runtime.park_m", "runtime.mcall"},
	"system calls":        {"internal/runtime/syscall/linux.Syscall6", "syscall.write", "net/http.(*conn).serve"},
	"claims":              {"crypto/sha256.block", "seckill/internal/ledger.(*Claims).name", "seckill/internal/httpapi.(*Server).purchase"},
	"SQL":                 {"runtime.mallocgc", "github.com/go-sql-driver/mysql.(*mysqlConn).exec", "seckill/internal/ledger.(*Store).Tx"},
	"JSON":                {"strconv.ParseInt", "seckill/internal/web.ReadJSON", "seckill/internal/httpapi.(*Server).purchase"},
	"the strategy":        {"runtime.mallocgc", "seckill/strategies/hotsku.(*merged).Deduct", "net/http.(*conn).serve"},
	"the endpoint":        {"runtime.mallocgc", "seckill/internal/httpapi.(*Server).purchase", "net/http.(*conn).serve"},
	"HTTP":                {"net/textproto.(*Reader).ReadLine", "net/http.(*conn).serve", "runtime.goexit"},
	"the rest":            {"main.main"},
}

// Every layer gets its share of the processor time, and nothing is lost.
func TestSamplesByLayer(t *testing.T) {
	for _, packed := range []bool{true, false} {
		var s cpuSamples
		for range 2 { // two processes
			if err := s.add(profileOfStacks(t, packed, stacks, 10_000_000)); err != nil {
				t.Fatal(err)
			}
		}
		us := 200.0
		got := s.layers(&us)
		for name := range stacks {
			if want := us / float64(len(stacks)); got[name] < want-0.01 || got[name] > want+0.01 {
				t.Errorf("packed %t: %s has %.2f µs, want %.2f", packed, name, got[name], want)
			}
		}
	}
}

func TestWhatIsNoProfile(t *testing.T) {
	whole := profileOfStacks(t, true, stacks, 1)
	for name, body := range map[string][]byte{"text": []byte("Could not enable CPU profiling"), "nothing": nil, "cut off": whole[:len(whole)/2]} {
		var s cpuSamples
		if err := s.add(body); err == nil {
			t.Errorf("%s was read as a profile", name)
		}
	}
}

func TestNamesOfStatements(t *testing.T) {
	for text, want := range map[string]string{
		"INSERT INTO `orders` ( `id` , `public_id` ) VALUES (...)":                  "INSERT INTO orders",
		"INSERT IGNORE INTO orders (id, public_id) VALUES (1, 'o', ?)":              "INSERT INTO orders",
		"UPDATE `stock` SET `num` = `LAST_INSERT_ID` ( `num` - ? )":                 "UPDATE stock",
		"UPDATE stock SET num = num - ? WHERE id = ?":                               "UPDATE stock",
		"SELECT CONNECTION_ID(), k.got FROM (SELECT CONCAT(GET_LOCK(?, 0)) AS got)": "claims",
		"SELECT `run` , `num` INTO `v_run` , `v_num` FROM `stock` WHERE `id` = `p`": "SELECT FROM stock",
		"CALL seckill_one_trip_v2(?, ?)":                                            "CALL",
		"START TRANSACTION":                                                         "BEGIN",
		"COMMIT":                                                                    "COMMIT",
		"SELECT ? , `LAST_INSERT_ID` ( ) AS `remaining`":                            "SELECT ? ,",
		"": "",
	} {
		if got := short(text); got != want {
			t.Errorf("%q is called %q, want %q", text, got, want)
		}
	}
}
