package labapi

import (
	"encoding/json"
	"testing"

	"seckill/web/course"
)

func TestCourse(t *testing.T) {
	_, h, _ := start(t, nil)
	status, body, _ := call{method: "GET", path: "/api/lab/v1/course"}.do(t, h.URL)
	var got struct {
		Chapters []struct {
			Name        string
			Title, Text map[string]string
			Strategies  []string
			Break       struct {
				Strategy, Question string
				Stock, Buyers      int
			}
		}
	}
	all, err := course.Chapters()
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal([]byte(body), &got); status != 200 || err != nil || len(got.Chapters) != len(all) {
		t.Fatalf("got %d, %d chapters, %v", status, len(got.Chapters), err)
	}
	first := got.Chapters[0]
	if first.Name != "01-lost-update" || first.Title["zh"] != "丢失更新" || first.Text["en"] == "" ||
		len(first.Strategies) != 1 || first.Break.Strategy != "naive" || first.Break.Buyers <= first.Break.Stock {
		t.Errorf("the first chapter is %+v", first)
	}
	if b := got.Chapters[11].Break; b.Question != "lease-end" || b.Stock != 0 {
		t.Errorf("the twelfth chapter breaks %+v", b)
	}
}
