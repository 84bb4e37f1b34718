package loadtest

import "context"

// Blow sends the scenario's purchases to targets that have nothing but the
// purchase: no reset, no ledger, no metrics. It measures a bare handler with
// the very client that measures services. There is no verdict; the error is an
// ErrConfig.
func Blow(ctx context.Context, c Config) (*Result, error) {
	if err := c.Check(); err != nil {
		return nil, err
	}
	if len(c.Targets) == 0 {
		return nil, configError("no target: give the address of at least one handler")
	}
	c.Scenario = c.normal()
	c.NoHistory = true
	r := newRun(c)
	r.services = nil // nobody to ask
	defer r.transport.CloseIdleConnections()
	finish := r.storm(ctx)
	r.result.Course = finish()
	return r.result, nil
}
