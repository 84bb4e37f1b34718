package ledger

// Waiting returns how many refusals wait for an INSERT.
func (w *Refusals) Waiting() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.waiting)
}
