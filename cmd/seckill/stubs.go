package main

// Placeholders until the command's own file exists: DELETE YOUR LINE when you
// write it (Run may take context.Context, io.Writer = stdout, stderrWriter).

type UpCmd struct{}
type ServeCmd struct{}
type LoadCmd struct{}
type DepsCmd struct{}
type DoctorCmd struct{}

func (UpCmd) Run() error     { return nil }
func (ServeCmd) Run() error  { return nil }
func (LoadCmd) Run() error   { return nil }
func (DepsCmd) Run() error   { return nil }
func (DoctorCmd) Run() error { return nil }
