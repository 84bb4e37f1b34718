package lab

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"seckill/internal/backend"
)

// A State describes a running lab to other programs of the same user. It is a file in
// the lab's folder, of mode 0600: it holds passwords.
type State struct {
	PID      int            `json:"pid"`
	Started  time.Time      `json:"started"`
	Page     string         `json:"page"`     // its address
	Services []string       `json:"services"` // their addresses
	Token    string         `json:"token"`    // of admin calls to them
	Clients  string         `json:"clients"`  // see Lab.ClientsFile
	Config   backend.Config `json:"config"`
}

const stateFile = "lab.json"

// Announce lets Running find this lab, whose page is at this address, until it stops.
// It writes ClientsFile.
func (l *Lab) Announce(page string) error {
	if err := l.writeClients(); err != nil {
		return err
	}
	s := State{PID: os.Getpid(), Started: l.started, Page: page, Token: l.Token(), Clients: l.ClientsFile(), Config: l.Config()}
	for _, service := range l.Services() {
		s.Services = append(s.Services, service.URL)
	}
	text, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.stopped {
		return errors.New("announce the lab: it has been stopped")
	}
	l.page = page
	file := filepath.Join(l.folder, stateFile)
	if err = os.WriteFile(file+".new", text, 0o600); err == nil {
		err = os.Rename(file+".new", file) // others read a whole one
	}
	if err != nil {
		return fmt.Errorf("announce the lab: %w", err)
	}
	return nil
}

// Running finds the lab of this user that started last and has its folder where labs of
// this host have theirs; nil if none runs.
func Running(h Host) *State {
	folders, _ := filepath.Glob(filepath.Join(h.Temp, folderPattern))
	var newest *State
	for _, folder := range folders {
		if !isOurs(folder) {
			continue
		}
		if lock := lockFolder(folder); lock != nil {
			lock.Close() // its lab has died
			continue
		}
		var s State
		text, err := os.ReadFile(filepath.Join(folder, stateFile))
		if err == nil && json.Unmarshal(text, &s) == nil && (newest == nil || s.Started.After(newest.Started)) {
			newest = &s
		}
	}
	return newest
}
