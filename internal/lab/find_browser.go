package lab

// FindBrowser finds what the browser tests drive. The lab itself needs none.
func FindBrowser() Program {
	s := append(systemFolders(),
		"/Applications/Chromium.app/Contents/MacOS",
		"/Applications/Google Chrome.app/Contents/MacOS")
	p := s.program("Chromium", "chromium", "google-chrome", "chromium-browser", "google-chrome-stable",
		"Chromium", "Google Chrome")
	p.Get = getServers + " --tests"
	return p
}

// FindCompiler finds the C compiler that Go's race detector is linked with.
func FindCompiler() Program {
	p := systemFolders().program("C compiler", "gcc", "clang", "cc")
	p.Get = getServers + " --tests"
	return p
}

// FindTypeChecker finds TypeScript's compiler, which checks the page's types.
func FindTypeChecker() Program {
	p := systemFolders().program("TypeScript", "tsc")
	p.Get = getServers + " --tests"
	return p
}

// FindEtcdctl finds etcd's own client, with which the etcd lock is tested.
func FindEtcdctl() Program {
	p := systemFolders().program("etcdctl", "etcdctl")
	p.ask = "version"
	p.Get = getServers + " --tests"
	return p
}
