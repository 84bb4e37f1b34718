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

// A State describes a running lab to other programs of the same user.
type State struct {
	PID      int              `json:"pid"`
	Started  time.Time        `json:"started"`
	Page     string           `json:"page"`     // its address
	Services []string         `json:"services"` // their addresses
	Token    string           `json:"token"`    // of admin calls to them
	Clients  string           `json:"clients"`  // see Lab.ClientsFile
	Config   backend.Config   `json:"config"`
	Backends []backend.Status `json:"backends"`
}

// makeRunFolder takes the first that can be made and belongs to this user.
func (h Host) makeRunFolder() (string, error) {
	var errs []error
	for _, folder := range h.runFolders() {
		err := os.MkdirAll(folder, 0o700)
		if err == nil && !isOurs(folder) {
			err = fmt.Errorf("%s belongs to another user", folder)
		}
		if err == nil {
			return folder, nil
		}
		errs = append(errs, err)
	}
	return "", fmt.Errorf("%w (set SECKILL_STATE to a folder that can be written to)", errors.Join(errs...))
}

// An announcement is the file of a running lab. It is locked while the lab runs:
// a file whose lock is free was left by a lab that was killed.
type announcement struct {
	path string
	file *os.File
}

// Announce lets Running find this lab, whose page is at this address, until it stops.
// It writes ClientsFile.
func (l *Lab) Announce(page string) error {
	if err := l.writeClients(); err != nil {
		return err
	}
	s := State{PID: os.Getpid(), Started: l.started, Page: page, Token: l.Token(), Clients: l.ClientsFile(),
		Config: l.Config(), Backends: l.Backends()}
	for _, service := range l.Services() {
		s.Services = append(s.Services, service.URL)
	}
	text, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return err
	}
	a, err := announce(l.options.Host, text)
	if err != nil {
		return fmt.Errorf("announce the lab: %w", err)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.stopped {
		return errors.Join(errors.New("announce the lab: it has been stopped"), a.withdraw())
	}
	before := l.state
	l.state, l.page = a, page
	return before.withdraw()
}

func announce(h Host, text []byte) (*announcement, error) {
	folder, err := h.makeRunFolder()
	if err != nil {
		return nil, err
	}
	for {
		path := filepath.Join(folder, fmt.Sprintf("lab-%d-%d.json", os.Getpid(), time.Now().UnixNano()))
		file, err := createLocked(path)
		if err != nil {
			return nil, err
		}
		if file == nil {
			continue
		}
		if _, err := file.Write(text); err != nil {
			file.Close()
			return nil, errors.Join(err, os.Remove(path))
		}
		return &announcement{path, file}, nil
	}
}

func (a *announcement) withdraw() error {
	if a == nil {
		return nil
	}
	a.file.Close()
	err := os.Remove(a.path)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	return err
}

// Running finds the lab of this user that started last; nil if none runs. It
// removes the announcements of labs that were killed.
func Running(h Host) (*State, error) {
	var files []string
	for _, folder := range h.runFolders() {
		if !isOurs(folder) {
			continue
		}
		some, err := filepath.Glob(filepath.Join(folder, "lab-*.json"))
		if err != nil {
			return nil, fmt.Errorf("look for a running lab in %s: %w", folder, err)
		}
		files = append(files, some...)
	}
	var newest *State
	for _, path := range files {
		if lock := lockDead(path); lock != nil {
			lock.Close()
			os.Remove(path)
			continue
		}
		var s State
		text, err := os.ReadFile(path)
		if err != nil || json.Unmarshal(text, &s) != nil {
			continue // it is being written, or withdrawn, at this moment
		}
		if newest == nil || s.Started.After(newest.Started) {
			newest = &s
		}
	}
	return newest, nil
}
