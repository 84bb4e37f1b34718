package classroom

import (
	"crypto/rand"
	"crypto/subtle"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"seckill/internal/history"
)

// Rooms are the classes of a lab. Its methods may be called by several
// goroutines.
type Rooms struct {
	folder *history.Folder
	log    *slog.Logger
	now    func() time.Time
	told   func() // of every change

	mu      sync.Mutex
	classes map[string]*Class
}

// Open reads the classes of the history, and forgets those that have ended. changed
// is called after every change.
func Open(folder *history.Folder, log *slog.Logger, now func() time.Time, changed func()) (r *Rooms, skipped []error) {
	r = &Rooms{folder: folder, log: log, now: now, told: changed, classes: map[string]*Class{}}
	skipped = history.Load(folder, history.Class, func(id string, c Class) error {
		if err := c.check(); err != nil || c.Code != id {
			return errors.Join(err, errors.New("it is no class of a lab"))
		}
		r.classes[id] = &c
		return nil
	})
	r.mu.Lock()
	defer r.mu.Unlock()
	r.forget()
	return r, skipped
}

// forget removes the classes that have ended.
func (r *Rooms) forget() {
	for code, c := range r.classes {
		if r.now().After(c.Expires) {
			r.remove(code)
		}
	}
}

func (r *Rooms) remove(code string) {
	delete(r.classes, code)
	if err := r.folder.Remove(history.Class, code); err != nil {
		r.log.Warn("a class stays on disk until the next start", "error", err)
	}
}

// keep writes a class into the history.
func (r *Rooms) keep(c *Class) {
	c.NotKept = ""
	if r.folder.Dir() == "" {
		c.NotKept = "the lab was started without a folder for its history"
	} else if err := r.folder.Put(history.Class, c.Code, c); err != nil {
		r.log.Warn("a class is not kept", "error", err)
		c.NotKept = err.Error()
	}
}

// New begins a class; only who holds the key may see or delete it.
func (r *Rooms) New() (c Class, key string, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.forget()
	if len(r.classes) >= MostClasses {
		return c, "", &Mistake{TooManyClasses, fmt.Sprintf("There are %d classes, which is the most a lab has: delete one.", MostClasses)}
	}
	code := newCode()
	for r.classes[code] != nil {
		code = newCode()
	}
	key = rand.Text()
	now := r.now().UTC().Truncate(time.Second)
	fresh := &Class{Code: code, Opened: now, Expires: now.Add(Lasts), Learners: []Learner{}, KeyHash: hash(key)}
	r.classes[code] = fresh
	r.keep(fresh)
	r.told()
	return fresh.shown(), key, nil
}

// find is the class of a code; the caller holds the lock.
func (r *Rooms) find(code string) (*Class, error) {
	r.forget()
	if c := r.classes[Code(code)]; c != nil {
		return c, nil
	}
	return nil, unknownClass
}

func same(key, hashed string) bool {
	return subtle.ConstantTimeCompare([]byte(hash(key)), []byte(hashed)) == 1
}

// taught is the class, for its teacher.
func (r *Rooms) taught(code, key string) (*Class, error) {
	c, err := r.find(code)
	if err == nil && !same(key, c.KeyHash) {
		return nil, wrongKey
	}
	return c, err
}

// learner is who holds the key; all keys are compared, so that the time tells
// nothing.
func (c *Class) learner(key string) *Learner {
	var found *Learner
	for i := range c.Learners {
		if same(key, c.Learners[i].KeyHash) {
			found = &c.Learners[i]
		}
	}
	return found
}

// Join enters a learner, and returns the nickname as it is kept and the key of what
// they will solve.
func (r *Rooms) Join(code, nickname string) (name, key string, err error) {
	if name, err = Nickname(nickname); err != nil {
		return "", "", err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	c, err := r.find(code)
	switch {
	case err != nil:
		return "", "", err
	case c.named(name) >= 0:
		return "", "", &Mistake{NicknameTaken, "This nickname is taken in this class: choose another. If it is you on another device, ask your teacher to remove the old one."}
	case len(c.Learners) >= MostLearners:
		return "", "", &Mistake{ClassFull, fmt.Sprintf("This class has %d learners, which is the most.", MostLearners)}
	}
	key = rand.Text()
	l := Learner{Nickname: name, Joined: r.now().UTC().Truncate(time.Second), KeyHash: hash(key)}
	l.prepare()
	c.Learners = append(c.Learners, l)
	r.keep(c)
	r.told()
	return name, key, nil
}

// named finds a learner, whatever the case of their letters; -1: there is none.
func (c *Class) named(name string) int {
	return slices.IndexFunc(c.Learners, func(l Learner) bool { return strings.EqualFold(l.Nickname, name) })
}

// IsMember reports whether the key is of the class's teacher or of a learner.
func (r *Rooms) IsMember(code, key string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	c, err := r.find(code)
	return err == nil && (same(key, c.KeyHash) || c.learner(key) != nil)
}

// Class shows a class to its teacher.
func (r *Rooms) Class(code, key string) (Class, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	c, err := r.taught(code, key)
	if err != nil {
		return Class{}, err
	}
	return c.shown(), nil
}

// Learner shows a learner what is kept of them.
func (r *Rooms) Learner(code, key string) (Learner, error) {
	return r.note(code, key, nil)
}

// Solve notes a level that the learner has solved; the shortest solution stays.
func (r *Rooms) Solve(code, key, level string, s Solved) (Learner, error) {
	return r.note(code, key, func(l *Learner, now time.Time) bool {
		old, again := l.Levels[level]
		s.Short, s.At = s.Short || old.Short, now
		if again && !old.longer(s) || !again && len(l.Levels) >= MostResults {
			return false
		}
		l.Levels[level] = s
		return true
	})
}

// Predict notes what the learner said before the run of a chapter; the first
// prediction counts.
func (r *Rooms) Predict(code, key, chapter, said string, right bool) (Learner, error) {
	return r.note(code, key, func(l *Learner, now time.Time) bool {
		if _, again := l.Predictions[chapter]; again || len(l.Predictions) >= MostResults {
			return false
		}
		l.Predictions[chapter] = Prediction{said, right, now}
		return true
	})
}

// Read notes a chapter that the learner has read to its end.
func (r *Rooms) Read(code, key, chapter string) (Learner, error) {
	return r.note(code, key, func(l *Learner, now time.Time) bool {
		if _, again := l.Chapters[chapter]; again || len(l.Chapters) >= MostResults {
			return false
		}
		l.Chapters[chapter] = now
		return true
	})
}

// note changes what is kept of a learner; change reports whether it did.
func (r *Rooms) note(code, key string, change func(*Learner, time.Time) bool) (Learner, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	c, err := r.find(code)
	if err != nil {
		return Learner{}, err
	}
	l := c.learner(key)
	if l == nil {
		return Learner{}, wrongKey
	}
	if change != nil && change(l, r.now().UTC().Truncate(time.Second)) {
		r.keep(c)
		r.told()
	}
	return l.shown(), nil
}

// Remove takes a learner out, with all that is kept of them.
func (r *Rooms) Remove(code, key, nickname string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	c, err := r.taught(code, key)
	if err != nil {
		return err
	}
	i := c.named(nickname)
	if i < 0 {
		return &Mistake{UnknownLearner, "There is no such learner in this class."}
	}
	c.Learners = slices.Delete(c.Learners, i, i+1)
	r.keep(c)
	r.told()
	return nil
}

// Delete ends a class, and nothing of it is left.
func (r *Rooms) Delete(code, key string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	c, err := r.taught(code, key)
	if err != nil {
		return err
	}
	delete(r.classes, c.Code)
	r.told()
	return r.folder.Remove(history.Class, c.Code)
}
