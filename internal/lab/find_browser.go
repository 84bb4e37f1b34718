package lab

// FindBrowser finds what the browser tests drive. The lab itself needs none.
func FindBrowser() Program {
	s := append(systemFolders(),
		"/Applications/Chromium.app/Contents/MacOS",
		"/Applications/Google Chrome.app/Contents/MacOS")
	return s.program("Chromium", "chromium", "chromium-browser", "google-chrome", "google-chrome-stable",
		"Chromium", "Google Chrome")
}
