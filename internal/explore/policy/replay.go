package policy

import "fmt"

// Replay makes the choices of one schedule again; then each thread
// goes on as long as it can. It runs once.
type Replay struct {
	Choices []Choice
	made    int
}

// Choose takes the next of its choices; ErrDiverged if that is none of the options.
func (p *Replay) Choose(options []Option, _ int) (int, error) {
	if p.made >= len(p.Choices) {
		return 0, nil
	}
	i := find(options, p.Choices[p.made])
	if i < 0 {
		return 0, fmt.Errorf("%w: step %d should be %s's, and there is only %v", ErrDiverged, p.made+1, p.Choices[p.made], options)
	}
	p.made++
	return i, nil
}
