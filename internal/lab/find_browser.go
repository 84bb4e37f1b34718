package lab

// FindBrowser finds what the browser tests drive. The lab itself needs none.
func FindBrowser() Program {
	s := append(systemFolders(),
		"/Applications/Chromium.app/Contents/MacOS",
		"/Applications/Google Chrome.app/Contents/MacOS")
	p := s.program("Chromium", "chromium", "google-chrome", "chromium-browser", "google-chrome-stable",
		"Chromium", "Google Chrome")
	p.Get = getServers + " --browser"
	return p
}
