package backend

// Version is what a backend said of itself when it was opened.
func Version(in *Instance, name string) string { return in.versions[name] }
