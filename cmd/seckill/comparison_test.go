package main

import (
	"encoding/json"
	"net/http/httptest"
	"reflect"
	"testing"
	"time"

	"seckill/internal/labapi"
)

// The page offers the defaults of the command.
func TestPageAndCommandCompareAlike(t *testing.T) {
	var c commands
	parser, err := newParser(&c)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := parser.Parse([]string{"compare"}); err != nil {
		t.Fatal(err)
	}
	r := httptest.NewRequest("GET", "http://127.0.0.1/api/lab/v1/comparisons", nil)
	w := httptest.NewRecorder()
	labapi.New(labapi.Config{}).ServeHTTP(w, r)
	var page struct{ Defaults labapi.ComparisonSettings }
	if err := json.Unmarshal(w.Body.Bytes(), &page); err != nil {
		t.Fatalf("%v: %s", err, w.Body)
	}
	cmd := labapi.ComparisonSettings{Stock: c.Compare.Stock, Buyers: c.Compare.Buyers, Concurrency: c.Compare.Concurrency,
		Quantity: c.Compare.Quantity, Repeats: c.Compare.Repeats, TurnMS: int(c.Compare.Turn / time.Millisecond), Few: c.Compare.Few}
	if !reflect.DeepEqual(page.Defaults, cmd) || cmd.Stock == 0 {
		t.Errorf("the page offers %+v, and seckill compare does %+v", page.Defaults, cmd)
	}
}
