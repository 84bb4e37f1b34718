package classroom_test

import (
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"seckill/internal/classroom"
	"seckill/internal/history"
)

// A school is the classes of a lab on a clock of the test's.
type school struct {
	*classroom.Rooms
	dir string
	now time.Time
}

func open(t *testing.T, dir string, now time.Time) *school {
	t.Helper()
	s := &school{dir: dir, now: now}
	rooms, skipped := classroom.Open(history.Open(dir), slog.New(slog.DiscardHandler), func() time.Time { return s.now }, func() {})
	if len(skipped) > 0 {
		t.Errorf("left out: %v", skipped)
	}
	s.Rooms = rooms
	return s
}

var morning = time.Date(2026, 3, 2, 8, 0, 0, 0, time.UTC)

func is(err error, code string) bool {
	var m *classroom.Mistake
	return errors.As(err, &m) && m.Code == code && m.Detail != ""
}

func TestClassOutlivesTheLab(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "history")
	s := open(t, dir, morning)
	c, key, err := s.New()
	if err != nil || c.NotKept != "" || classroom.Code(c.Code) != c.Code {
		t.Fatalf("the class is %+v, %v", c, err)
	}
	name, mia, err := s.Join(strings.ToLower(c.Code[:4])+"-"+c.Code[4:], "  Mia   O'Neil ")
	if err != nil || name != "Mia O'Neil" {
		t.Fatalf("joined as %q, %v", name, err)
	}
	_, bo, err := s.Join(c.Code, "博")
	if err != nil {
		t.Fatal(err)
	}
	for _, moves := range []int{12, 8, 10} { // the shortest stays
		if _, err := s.Solve(c.Code, mia, "first", classroom.Solved{Moves: moves, Short: moves == 8}); err != nil {
			t.Fatal(err)
		}
	}
	for _, said := range []string{"all", "more"} { // the first counts
		if _, err := s.Predict(c.Code, bo, "01-lost-update", said, said == "more"); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := s.Read(c.Code, bo, "01-lost-update"); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Solve(c.Code, bo, "safe", classroom.Solved{Impossible: true, Short: true}); err != nil {
		t.Fatal(err)
	}

	s = open(t, dir, morning.Add(time.Hour)) // another lab
	got, err := s.Class(c.Code, key)
	if err != nil || len(got.Learners) != 2 || got.KeyHash != "" || got.Learners[0].KeyHash != "" {
		t.Fatalf("the class is %+v, %v", got, err)
	}
	if first := got.Learners[0].Levels["first"]; first.Moves != 8 || !first.Short {
		t.Errorf("Mia's level is %+v", first)
	}
	if p := got.Learners[1].Predictions["01-lost-update"]; p.Said != "all" || p.Right {
		t.Errorf("Bo's prediction is %+v", p)
	}
	var out strings.Builder
	if err := got.WriteCSV(&out, []string{"first", "safe"}); err != nil {
		t.Fatal(err)
	}
	const want = "nickname,joined,chapters_read,predictions,predictions_right,levels_solved,first,safe\n" +
		"Mia O'Neil,2026-03-02T08:00:00Z,0,0,0,1,8,\n博,2026-03-02T08:00:00Z,1,1,0,1,,impossible\n"
	if out.String() != want {
		t.Errorf("the file is\n%s\nwant\n%s", out.String(), want)
	}

	for name, err := range map[string]error{
		"a learner's key sees the class": func() error { _, err := s.Class(c.Code, mia); return err }(),
		"no key sees the class":          func() error { _, err := s.Class(c.Code, ""); return err }(),
		"the teacher's key solves":       func() error { _, err := s.Solve(c.Code, key, "first", classroom.Solved{}); return err }(),
		"a learner deletes":              s.Delete(c.Code, mia),
		"a learner removes another":      s.Remove(c.Code, mia, "博"),
	} {
		if !is(err, classroom.WrongKey) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if !s.IsMember(c.Code, mia) || !s.IsMember(c.Code, key) || s.IsMember(c.Code, "") || s.IsMember("ABCDEFGH", mia) {
		t.Error("who is a member")
	}
	if err := s.Remove(c.Code, key, "mia o'neil"); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Learner(c.Code, mia); !is(err, classroom.WrongKey) {
		t.Errorf("a learner who was removed: %v", err)
	}
	if err := s.Delete(c.Code, key); err != nil {
		t.Fatal(err)
	}
	if _, _, err := s.Join(c.Code, "Late"); !is(err, classroom.UnknownClass) {
		t.Errorf("joined a class that is deleted: %v", err)
	}
	if files, _ := os.ReadDir(dir); len(files) != 0 {
		t.Errorf("%d files are left", len(files))
	}
}

func TestClassesAreBounded(t *testing.T) {
	s := open(t, t.TempDir(), morning)
	var codes, keys []string
	for range classroom.MostClasses {
		c, key, err := s.New()
		if err != nil {
			t.Fatal(err)
		}
		codes, keys = append(codes, c.Code), append(keys, key)
	}
	if _, _, err := s.New(); !is(err, classroom.TooManyClasses) {
		t.Errorf("one class too many: %v", err)
	}
	var joined sync.WaitGroup
	for i := range classroom.MostLearners + 5 { // all at once
		joined.Go(func() { _, _, _ = s.Join(codes[0], fmt.Sprint("learner ", i)) })
	}
	joined.Wait()
	c, err := s.Class(codes[0], keys[0])
	if err != nil || len(c.Learners) != classroom.MostLearners {
		t.Fatalf("%d learners, %v", len(c.Learners), err)
	}
	if _, _, err := s.Join(codes[0], "one more"); !is(err, classroom.ClassFull) {
		t.Errorf("one learner too many: %v", err)
	}
	_, key, err := s.Join(codes[1], "Mia")
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := s.Join(codes[1], "MIA"); !is(err, classroom.NicknameTaken) {
		t.Errorf("the same nickname: %v", err)
	}
	for i := range classroom.MostResults + 5 {
		l, err := s.Solve(codes[1], key, fmt.Sprint("level-", i), classroom.Solved{Moves: 1})
		if err != nil || len(l.Levels) > classroom.MostResults {
			t.Fatalf("%d levels, %v", len(l.Levels), err)
		}
	}

	t.Log("a class ends")
	s.now = morning.Add(classroom.Lasts + time.Second)
	if _, err := s.Class(codes[0], keys[0]); !is(err, classroom.UnknownClass) {
		t.Errorf("a class after its end: %v", err)
	}
	if files, _ := os.ReadDir(s.dir); len(files) != 0 {
		t.Errorf("%d files are left", len(files))
	}
	if _, _, err := s.New(); err != nil {
		t.Errorf("a class after the others ended: %v", err)
	}
}

func TestNicknamesAndCodes(t *testing.T) {
	for typed, want := range map[string]string{
		"Mia": "Mia", " Mia  2 ": "Mia 2", "小明": "小明", "J.-P. O'Neil_3": "J.-P. O'Neil_3", "Élodie": "Élodie", "E\u0301lodie": "E\u0301lodie",
		"": "", " ": "", "=1+1": "", "+1": "", "-1": "", "@x": "", "a=b": "", "<b>": "", "a\x00": "", "a\u202eb": "", "a\u200bb": "", "\u0301a": "",
		"a\"b": "", "a,b": "", "a;b": "", "a\nb": "a b", "\xff": "", "a/b": "", "😀": "",
		strings.Repeat("x", classroom.MostNickname):   strings.Repeat("x", classroom.MostNickname),
		strings.Repeat("x", classroom.MostNickname+1): "", strings.Repeat(" ", 1<<20): "",
	} {
		if got, err := classroom.Nickname(typed); got != want || (err != nil) != (want == "") {
			t.Errorf("%.40q becomes %q, %v; want %q", typed, got, err, want)
		}
	}
	for typed, want := range map[string]string{"ABCDEFGH": "ABCDEFGH", "abcd-efgh": "ABCDEFGH", " abcd efgh ": "ABCDEFGH",
		"ABCDEFG": "", "ABCDEFGHJ": "", "ABCDEFG0": "", "../../..": "", "ABCDEFG/": "", "ÀBCDEFG": "", "": ""} {
		if got := classroom.Code(typed); got != want {
			t.Errorf("%q is the code %q, want %q", typed, got, want)
		}
	}
}

// A file that somebody changed is left out, not believed.
func TestForeignFilesAreLeftOut(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, morning)
	c, _, err := s.New()
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "class-"+c.Code+".json")
	whole, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var envelope map[string]any
	if err := json.Unmarshal(whole, &envelope); err != nil {
		t.Fatal(err)
	}
	for what, change := range map[string]func(entry map[string]any){
		"no key":            func(e map[string]any) { delete(e, "key_hash") },
		"another code":      func(e map[string]any) { e["code"] = "ABCDEFGH" },
		"lasts for ever":    func(e map[string]any) { e["expires"] = "2999-01-01T00:00:00Z" },
		"a formula as name": func(e map[string]any) { e["learners"] = []any{map[string]any{"nickname": "=cmd()"}} },
	} {
		var e map[string]any
		copied, _ := json.Marshal(envelope["entry"])
		_ = json.Unmarshal(copied, &e)
		change(e)
		text, _ := json.Marshal(map[string]any{"seckill_history": envelope["seckill_history"], "kind": "class", "id": c.Code, "entry": e})
		if err := os.WriteFile(file, text, 0o600); err != nil {
			t.Fatal(err)
		}
		_, skipped := classroom.Open(history.Open(dir), slog.New(slog.DiscardHandler), time.Now, func() {})
		if len(skipped) != 1 {
			t.Errorf("%s: %v", what, skipped)
		}
	}
}

// Whatever a nickname may be, a spreadsheet reads it as a text.
func FuzzNickname(f *testing.F) {
	for _, seed := range []string{"Mia", "=1+1", "小明", "a\u202eb", "\x00", "'; DROP TABLE"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, typed string) {
		name, err := classroom.Nickname(typed)
		if err != nil {
			return
		}
		if again, err := classroom.Nickname(name); again != name || err != nil {
			t.Errorf("%q becomes %q, and then %q, %v", typed, name, again, err)
		}
		var out strings.Builder
		c := classroom.Class{Learners: []classroom.Learner{{Nickname: name}}}
		if err := c.WriteCSV(&out, nil); err != nil {
			t.Fatal(err)
		}
		rows, err := csv.NewReader(strings.NewReader(out.String())).ReadAll()
		if err != nil || len(rows) != 2 || rows[1][0] != name || strings.ContainsAny(name[:1], "=+-@\t\r") {
			t.Errorf("%q is written as %q, %v", name, out.String(), err)
		}
	})
}
