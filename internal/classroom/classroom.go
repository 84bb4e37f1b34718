// Package classroom keeps what the learners of a class have solved. There are no
// accounts: a class has a code, which learners enter with a nickname, and a key,
// which its teacher holds. All of it is bounded, and ends after a month.
package classroom

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"strings"
	"time"
	"unicode"
)

// Bounds of what is kept. A lab streams to 64 pages at once, so a class is not
// larger than that.
const (
	MostClasses  = 20
	MostLearners = 60
	MostResults  = 200 // of a learner, of each kind
	MostNickname = 24  // characters
	Lasts        = 30 * 24 * time.Hour
)

// A Class is what is kept of one.
type Class struct {
	Code     string    `json:"code"`
	Opened   time.Time `json:"opened"`
	Expires  time.Time `json:"expires"`
	Learners []Learner `json:"learners"`
	// KeyHash is of the teacher's key, and goes to the disk only.
	KeyHash string `json:"key_hash,omitempty"`
	// NotKept says why the class is not on disk, and will be gone with the lab.
	NotKept string `json:"not_kept,omitempty"`
}

// A Learner of a class.
type Learner struct {
	Nickname    string                `json:"nickname"`
	Joined      time.Time             `json:"joined"`
	Levels      map[string]Solved     `json:"levels"`      // of the game, by name
	Predictions map[string]Prediction `json:"predictions"` // by chapter
	Chapters    map[string]time.Time  `json:"chapters"`    // read to the end, and when
	KeyHash     string                `json:"key_hash,omitempty"`
}

// Solved says how a level was solved: the shortest of the learner's schedules.
type Solved struct {
	Moves      int       `json:"moves"`
	Switches   int       `json:"switches"`
	Impossible bool      `json:"impossible,omitempty"` // they said so, and it is
	Short      bool      `json:"short"`                // as short as the best known solution
	At         time.Time `json:"at"`
}

// longer reports whether other is the better solution.
func (s Solved) longer(other Solved) bool {
	return other.Moves < s.Moves || other.Moves == s.Moves && other.Switches < s.Switches
}

// A Prediction is what a learner said before a run; the first one counts.
type Prediction struct {
	Said  string    `json:"said"`
	Right bool      `json:"right"`
	At    time.Time `json:"at"`
}

// shown is a copy without the hashes of the keys.
func (c *Class) shown() Class {
	out := *c
	out.KeyHash = ""
	out.Learners = make([]Learner, len(c.Learners))
	for i, l := range c.Learners {
		out.Learners[i] = l.shown()
	}
	return out
}

func (l Learner) shown() Learner {
	l.KeyHash = ""
	l.Levels, l.Predictions, l.Chapters = maps.Clone(l.Levels), maps.Clone(l.Predictions), maps.Clone(l.Chapters)
	return l
}

// check refuses an entry of the history that this package did not write.
func (c *Class) check() error {
	if c.Code != Code(c.Code) || c.KeyHash == "" || len(c.Learners) > MostLearners || !c.Expires.Before(c.Opened.Add(Lasts+time.Minute)) {
		return errors.New("it is no class")
	}
	for i := range c.Learners {
		l := &c.Learners[i]
		name, err := Nickname(l.Nickname)
		if err != nil || name != l.Nickname || len(l.Levels) > MostResults || len(l.Predictions) > MostResults || len(l.Chapters) > MostResults {
			return fmt.Errorf("its learner %d is none", i+1)
		}
		l.prepare()
	}
	return nil
}

func (l *Learner) prepare() {
	if l.Levels == nil {
		l.Levels = map[string]Solved{}
	}
	if l.Predictions == nil {
		l.Predictions = map[string]Prediction{}
	}
	if l.Chapters == nil {
		l.Chapters = map[string]time.Time{}
	}
}

// letters are not taken for others, on paper or aloud.
const (
	letters    = "ABCDEFGHJKMNPQRSTUVWXYZ23456789"
	codeLength = 8 // 31^8: too many to guess
)

func newCode() string {
	code := make([]byte, 0, codeLength)
	for b := make([]byte, 1); len(code) < codeLength; {
		if _, err := rand.Read(b); err != nil {
			panic(err) // it never fails
		}
		if n := int(b[0]) & 31; n < len(letters) {
			code = append(code, letters[n])
		}
	}
	return string(code)
}

// Code is a class's code as it was typed, in the form that it is kept in;
// "" if it cannot be one.
func Code(typed string) string {
	if len(typed) > 4*codeLength {
		return ""
	}
	code := strings.Map(func(r rune) rune {
		if r == ' ' || r == '-' {
			return -1
		}
		return unicode.ToUpper(r)
	}, typed)
	if len(code) != codeLength || strings.Trim(code, letters) != "" {
		return ""
	}
	return code
}

// Nickname is a nickname as it is kept: letters, digits, and between them single
// spaces, points, hyphens, underscores or apostrophes. It begins with a letter or a
// digit, so that no spreadsheet takes it for a formula.
func Nickname(typed string) (string, error) {
	if len(typed) > 16*MostNickname {
		return "", badNickname
	}
	name := strings.Join(strings.Fields(typed), " ")
	for i, r := range []rune(name) {
		word := unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r) && i > 0
		if i >= MostNickname || !word && (i == 0 || !strings.ContainsRune(" .-_'", r)) {
			return "", badNickname
		}
	}
	if name == "" {
		return "", badNickname
	}
	return name, nil
}

func hash(key string) string {
	sum := sha256.Sum256([]byte(key))
	return hex.EncodeToString(sum[:])
}

// A Mistake says what a caller did wrong.
type Mistake struct {
	Code   string
	Detail string
}

func (m *Mistake) Error() string { return m.Detail }

// Codes of mistakes.
const (
	UnknownClass   = "unknown_class"
	WrongKey       = "wrong_class_key"
	BadNickname    = "bad_nickname"
	NicknameTaken  = "nickname_taken"
	UnknownLearner = "unknown_learner"
	ClassFull      = "class_full"
	TooManyClasses = "too_many_classes"
	UnknownChapter = "unknown_chapter"
	NotSolved      = "not_solved"
	NotForetold    = "not_foretold"
)

var (
	unknownClass = &Mistake{UnknownClass, "There is no class with this code: ask your teacher for it. A class ends after 30 days, or when its teacher deletes it."}
	wrongKey     = &Mistake{WrongKey, "This key is not of this class: open the class by its teacher's link, or join it again by its code."}
	badNickname  = &Mistake{BadNickname, fmt.Sprintf("A nickname has 1 to %d letters or digits, begins with one of them, and has at most spaces, points, hyphens, underscores and apostrophes between them.", MostNickname)}
)
