package game

import (
	"cmp"
	"context"
	"crypto/rand"
	"fmt"
	"slices"
	"strings"
	"sync"

	"seckill/internal/catalog"
	"seckill/internal/explore"
)

// AttacksAtOnce search at a time; others wait for their turn. An attack keeps the
// servers busier than a game.
const AttacksAtOnce = 2

// A raid is an attack under way, or over.
type raid struct {
	stop  context.CancelFunc
	alarm Alarm

	mu   sync.Mutex
	said Attack
}

func (r *raid) state() Attack {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.said
}

func (r *raid) say(f func(*Attack)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	f(&r.said)
}

// named finds an exercise and a choice of it. The error is a *Mistake.
func named(defence, choice string) (*Post, error) {
	p := DefenceNamed(defence)
	if p == nil {
		return nil, &Mistake{UnknownDefence, fmt.Sprintf("There is no exercise %q: /api/lab/v1/defences lists them.", clip(defence))}
	}
	if p.Variant(choice) == "" {
		return nil, &Mistake{UnknownChoice, fmt.Sprintf("%s has no choice %q: give one of %s.", defence, clip(choice), strings.Join(p.Names(), ", "))}
	}
	return p, nil
}

// Defences lists all exercises, as the page shows them.
func (h *Hall) Defences() (list []Defence, err error) {
	list = []Defence{}
	for _, p := range Defences() {
		d, err := p.WithCode(h.all())
		if err != nil {
			return nil, fmt.Errorf("the exercise %s: %w", p.Name, err)
		}
		for _, name := range p.Names() {
			if d.Missing == nil {
				d.Missing = h.missing(h.info(p.Variant(name)))
			}
		}
		d.Available = d.Missing == nil
		list = append(list, d)
	}
	return list, nil
}

func (h *Hall) info(name string) catalog.Info {
	all := h.all()
	if i := slices.IndexFunc(all, func(i catalog.Info) bool { return i.Name == name }); i >= 0 {
		return all[i]
	}
	return catalog.Info{Name: name}
}

// Attack has the explorer attack a choice, and returns at once. It takes the place
// of a game until it is over.
func (h *Hall) Attack(defence, choice string) (Attack, error) {
	p, err := named(defence, choice)
	if err != nil {
		return Attack{}, err
	}
	info := h.info(p.Variant(choice))
	if why := h.missing(info); why != nil {
		return Attack{}, &Mistake{StrategyUnavailable, fmt.Sprintf("%s cannot be attacked here: %s.", defence, why[0])}
	}
	if err := h.reserve(); err != nil {
		return Attack{}, err
	}
	ctx, stop := context.WithCancel(context.Background())
	r := &raid{stop: stop, said: Attack{ID: rand.Text(), Defence: defence, Choice: choice, State: AttackWaits,
		Preemptions: p.Preemptions, Rules: []string{}}}
	begun := r.state()
	h.mu.Lock()
	if h.attacks == nil {
		h.attacks, h.places = map[string]*raid{}, make(chan bool, AttacksAtOnce)
	}
	h.attacks[begun.ID] = r
	r.alarm = h.clock().AfterFunc(h.idle(), func() { _ = h.StopAttack(begun.ID) })
	if h.closed {
		stop()
	}
	h.mu.Unlock()
	go func() {
		defer stop()
		h.attack(ctx, r, p, info)
		h.mu.Lock()
		h.opening--
		h.mu.Unlock()
		h.ending.Done()
	}()
	return begun, nil
}

// attack searches when it is this one's turn.
func (h *Hall) attack(ctx context.Context, r *raid, p *Post, info catalog.Info) {
	select {
	case h.places <- true:
		defer func() { <-h.places }()
	case <-ctx.Done():
	}
	r.say(func(a *Attack) { a.State = AttackSearches })
	said := r.state()
	limits := p.limits(cmp.Or(h.AttackTime, AttackLimit))
	limits.Seen = func(*explore.Schedule) { r.say(func(a *Attack) { a.Schedules++ }) }
	done, err := attackChoice(ctx, h.Servers(), info, p, said.Choice, limits)
	if err != nil {
		if ctx.Err() == nil && h.Log != nil {
			h.Log.Warn("attack", "defence", said.Defence, "choice", said.Choice, "error", err)
		}
		done.State = AttackFailed
	}
	r.say(func(a *Attack) {
		done.ID = a.ID
		*a = done
	})
}

var unknownAttack = &Mistake{UnknownAttack, "There is no such attack: it was stopped, or left alone for too long. Begin it again."}

// AttackState is an attack as it stands.
func (h *Hall) AttackState(id string) (Attack, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	r := h.attacks[id]
	if r == nil {
		return Attack{}, unknownAttack
	}
	r.alarm.Reset(h.idle())
	return r.state(), nil
}

// StopAttack ends an attack, and forgets it.
func (h *Hall) StopAttack(id string) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	r := h.attacks[id]
	if r == nil {
		return unknownAttack
	}
	delete(h.attacks, id)
	r.alarm.Stop()
	r.stop()
	return nil
}
