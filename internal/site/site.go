// Package site writes the page as a folder of static files. Any web server can serve the folder,
// below any path. Some files contain the answers that a lab would give. The page reads these files
// instead of asking a lab (web/static/source.js).
package site

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"seckill/internal/catalog"
	"seckill/internal/game"
	"seckill/internal/httpapi"
	"seckill/web/course"
)

// A Site has the files and values from which Write makes a site.
type Site struct {
	Page       fs.FS // index.html and the files that it loads
	Guarantees fs.FS // the matrix of `seckill prove` and its counterexamples
	Recordings fs.FS // the recordings of the game's levels
	Checkout   fs.FS // the project's folder, with README.md and the documents that it links to
	Strategies []catalog.Info
	Version    string // the version of this program
}

// mark is in every page of a site. It tells the page that there is no lab, and it tells Write that a
// folder contains a site.
const mark = `<meta name="seckill-site" content="%s" data-place="%s">`

// Write writes the site into a folder. It replaces an old site in the folder. If the folder
// contains anything else, Write changes nothing and returns an error.
func (s Site) Write(dir string) error {
	if err := clearFolder(dir); err != nil {
		return err
	}
	f := &folder{dir: dir}
	index := f.read(s.Page, "index.html")
	f.write("404.html", f.read(s.Page, "404.html")) // GitHub Pages shows this file for unknown addresses
	f.write("index.html", pageAt(index, "./", ""))
	f.copyAll(s.Page, "static", "index.html", "404.html", "shop")
	f.copyAll(s.Guarantees, "guarantees")
	f.copyAll(s.Recordings, "recordings")
	f.copyDocuments(s.Checkout)
	s.writeExamples(f, index)
	s.writeAnswers(f)
	return f.err
}

// documents are README.md and the documents that it links to, with their pictures.
var documents = []string{"README.md", "README.zh.md", "CONTRIBUTING.md", "CHANGELOG.md", "docs/*.md", "docs/screens/*",
	"web/docs/page.png", "internal/prove/mutants/README.md"}

func (f *folder) copyDocuments(checkout fs.FS) {
	for _, pattern := range documents {
		names, _ := fs.Glob(checkout, pattern) // Glob fails only if a pattern is malformed
		if names == nil {
			f.err = errors.Join(f.err, fmt.Errorf("the source of this program has no %s", pattern))
		}
		for _, name := range names {
			f.write("documents/"+name, f.read(checkout, name))
		}
	}
}

// clearFolder removes an old site. It returns an error if dir contains anything else.
func clearFolder(dir string) error {
	old, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) || err == nil && len(old) == 0 {
		return nil
	}
	name, _, _ := strings.Cut(mark, " content")
	if index, _ := os.ReadFile(filepath.Join(dir, "index.html")); !bytes.Contains(index, []byte(name)) {
		return errors.Join(err, fmt.Errorf("%s is not empty and holds no site: name another folder", dir))
	}
	return os.RemoveAll(dir)
}

// pageAt returns the page for a folder of the site. The argument root is the relative path from that folder to the top
// folder of the site. The argument place is the screen that the page shows; "" is the start screen.
func pageAt(index []byte, root, place string) []byte {
	text := strings.ReplaceAll(string(index), `="/static/`, `="`+root+`static/`)
	text = strings.Replace(text, "<meta charset", fmt.Sprintf(mark, root, place)+"\n<meta charset", 1)
	if place != "" {
		text = strings.Replace(text, "<title>", "<title>"+path.Base(place)+" · ", 1)
	}
	return []byte(text)
}

// writeExamples writes a page for each counterexample, and a page for each trace of a strategy that
// withstands the fault (course.Break.Held).
func (s Site) writeExamples(f *folder, index []byte) {
	examples, _ := fs.Glob(s.Guarantees, "*.*.json")
	held, _ := fs.Glob(s.Page, "lessons/held.*.json")
	for _, file := range append(examples, held...) {
		name := strings.TrimSuffix(path.Base(file), ".json")
		f.write("x/"+name+"/index.html", pageAt(index, "../../", "trace/"+name))
	}
}

// writeAnswers writes files with the answers of a lab's API that do not depend on its servers.
func (s Site) writeAnswers(f *folder) {
	var levels []game.Level
	for _, level := range game.Levels() {
		l := *level
		if _, err := fs.Stat(s.Recordings, l.Name+".json.gz"); err == nil {
			l.Available = true
		}
		levels = append(levels, l)
	}
	all := []httpapi.Strategy{}
	for _, info := range s.Strategies {
		d, err := httpapi.DescribeSource(info)
		f.err = errors.Join(f.err, err)
		d.Available = true // show each strategy as available, as in a lab that has all servers
		f.writeJSON("api/v1/strategies/"+info.Name, d)
		d.Files, d.Lesson = nil, nil
		all = append(all, d)
	}
	type object map[string]any
	f.writeJSON("api/v1/strategies", object{"strategies": all})
	f.writeJSON("api/lab/v1/course", object{"chapters": course.Chapters()})
	f.writeJSON("api/lab/v1/levels", object{"levels": levels})
	none := []string{}
	f.writeJSON("api/lab/v1/status", object{"version": s.Version, "faults": none, "backends": none, "services": none})
}

// A folder reads and writes files one by one. After the first error it writes no more.
type folder struct {
	dir string
	err error
}

func (f *folder) read(files fs.FS, name string) []byte {
	text, err := fs.ReadFile(files, name)
	f.err = errors.Join(f.err, err)
	return text
}

func (f *folder) write(name string, text []byte) {
	if f.err != nil {
		return
	}
	file := filepath.Join(f.dir, filepath.FromSlash(name))
	if f.err = os.MkdirAll(filepath.Dir(file), 0o777); f.err == nil {
		f.err = os.WriteFile(file, text, 0o666)
	}
}

func (f *folder) writeJSON(name string, answer any) {
	text, err := json.Marshal(answer)
	f.err = errors.Join(f.err, err)
	f.writePacked(name, text)
}

func (f *folder) writePacked(name string, text []byte) {
	var packed bytes.Buffer
	w, _ := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	_, err := w.Write(text)
	f.err = errors.Join(f.err, err, w.Close())
	f.write(name+".json.gz", packed.Bytes())
}

// copyAll copies files into a folder of the site, except the named files and folders. It removes comments from modules
// and styles, and compresses JSON. A counterexample is also copied without compression, so that visitors can save it.
func (f *folder) copyAll(files fs.FS, into string, except ...string) {
	err := fs.WalkDir(files, ".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err == nil && entry.IsDir() && slices.Contains(except, name):
			return fs.SkipDir
		case err != nil || entry.IsDir() || slices.Contains(except, name):
			return err
		}
		text := f.read(files, name)
		to, isJSON := strings.CutSuffix(path.Join(into, name), ".json")
		switch {
		case isJSON:
			f.writePacked(to, text)
			if isExample := strings.Contains(path.Base(to), "."); isExample {
				f.write(to+".json", text)
			}
		case path.Ext(name) == ".js", path.Ext(name) == ".css":
			f.write(to, []byte(withoutComments(string(text))))
		default:
			f.write(to, text)
		}
		return f.err
	})
	f.err = errors.Join(f.err, err)
}

// typeNote matches a comment with a type before an expression. Only the type checker reads it.
var typeNote = regexp.MustCompile(`/\*\* @type .*?\*/ ?`)

// withoutComments removes the comments, types and indentation of a module, which are a third of its length.
func withoutComments(module string) string {
	var b strings.Builder
	inside := false
	for line := range strings.Lines(module) {
		line = strings.TrimLeft(line, " \t")
		_, behind, ends := strings.Cut(line, "*/")
		// If code follows the comment, keep the line. typeNote removes a type comment from the line.
		begins := strings.HasPrefix(line, "/*") && strings.TrimSpace(behind) == ""
		if isComment := inside || begins || strings.HasPrefix(line, "//"); !isComment {
			b.WriteString(typeNote.ReplaceAllString(line, ""))
		}
		inside = (inside || begins) && !ends
	}
	return b.String()
}
