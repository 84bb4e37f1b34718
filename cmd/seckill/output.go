package main

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"seckill/internal/backend"
	"seckill/internal/tables"
)

// Output has the flags that name the files for a result.
type Output struct {
	JSON     string `group:"output" name:"json" placeholder:"FILE" help:"${JSON}"`
	Markdown string `group:"output" placeholder:"FILE" help:"${Markdown}"`
	CSV      string `group:"output" name:"csv" placeholder:"FILE" help:"${CSV}"`
	Figures  string `group:"rare" placeholder:"FILE" help:"Put the figures into a JSON file, as the page reads them."`
	Quiet    bool   `group:"output" short:"q" help:"No progress."`
}

type form struct {
	flag, file string // file is "" if the flag is not set, and "-" for standard output
	write      func(io.Writer) error
}

type forms []form

func (o Output) outputForms(r tables.Report) forms {
	markdown := r.WriteMarkdown
	if o.Markdown != "-" {
		markdown = tables.WithBlock(o.Markdown, r.Name, r.WriteMarkdown)
	}
	return forms{{"--json", o.JSON, r.WriteJSON}, {"--markdown", o.Markdown, markdown}, {"--csv", o.CSV, r.WriteCSV},
		{"--figures", o.Figures, tables.WithMember(o.Figures, r.Name, cmp.Or(r.Figures, r.JSON))}}
}

func (o Output) checkOutput(name string) error {
	if err := tables.CheckBlock(o.Markdown, name); err != nil && o.Markdown != "-" {
		return fmt.Errorf("--markdown: %w", err)
	}
	return o.outputForms(tables.Report{}).checkPlaces()
}

// checkPlaces returns an error if two forms of the result, such as JSON and CSV, have the same file, or if a
// file cannot be written. Commands call checkPlaces before their work, so that no result is lost.
func (all forms) checkPlaces() error {
	seen := map[string]string{}
	for _, f := range all {
		// After Clean, the paths file and ./file count as the same file.
		place := filepath.Clean(f.file)
		other, twice := seen[place]
		switch {
		case f.file == "":
			continue
		case twice:
			return fmt.Errorf("%s and %s are both %q: give each a place of its own", other, f.flag, f.file)
		case f.file != "-":
			if err := tryWriting(f.file); err != nil {
				return fmt.Errorf("%s: the result could not be written there: %w", f.flag, err)
			}
		}
		seen[place] = f.flag
	}
	return nil
}

// tryWriting returns an error if the file cannot be opened for writing. If tryWriting has created the file, it
// removes the file again.
func tryWriting(file string) error {
	_, missing := os.Stat(file)
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE, 0o644)
	if err != nil {
		return err
	}
	if err = f.Close(); missing != nil {
		err = errors.Join(err, os.Remove(file))
	}
	return err
}

func (o Output) writeReport(stdout io.Writer, r tables.Report) error {
	return o.outputForms(r).writeAll(stdout, r.WriteText)
}

// writeAll writes a result in all forms, such as JSON and CSV. If no form goes to standard output, it calls the
// function text, which writes there. If a form cannot be written, writeAll still writes the others.
func (all forms) writeAll(stdout io.Writer, text func(io.Writer) error) error {
	if !slices.ContainsFunc(all, func(f form) bool { return f.file == "-" }) {
		all = append(all, form{"standard output", "-", text})
	}
	var errs []error
	for _, f := range all {
		var err error
		switch f.file {
		case "":
		case "-":
			err = f.write(stdout)
		default:
			err = writeFile(f.file, f.write)
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: the result could not be written: %w", f.flag, err))
		}
	}
	return errors.Join(errs...)
}

// writeFile opens the file only after the function write has returned, because write may read the old file.
func writeFile(file string, write func(io.Writer) error) error {
	var text bytes.Buffer
	if err := write(&text); err != nil {
		return err
	}
	return os.WriteFile(file, text.Bytes(), 0o644)
}

// commandLine returns this program's command line without passwords and without the token.
func commandLine() string {
	line := "seckill"
	for i, arg := range os.Args[1:] {
		switch {
		case os.Args[i] == "--token":
			arg = "…"
		case strings.HasPrefix(arg, "--token="):
			arg = "--token=…"
		}
		line += " " + backend.Redact(arg)
	}
	return line
}

// version is set by -ldflags "-X main.version=…" when an image is built, because there is no git repository then.
var version string

func buildVersion() string {
	if version != "" {
		return version
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return strings.Trim(info.Main.Version, "()")
	}
	return "devel"
}

// stepPrinter returns functions that show a step of a command, and remove the last step from a terminal.
func stepPrinter(stderr stderrWriter, quiet bool) (show func(done, total int, what string), clear func()) {
	begun := time.Now()
	line, clear := linePrinter(stderr, quiet)
	return func(done, total int, what string) {
		line(fmt.Sprintf("%6s  %4d/%d  %s", time.Since(begun).Round(time.Second), done+1, total, what))
	}, clear
}

// linePrinter returns functions that show a line of progress, and remove the last line from a terminal. On a terminal,
// each line replaces the last one. A long line is cut there, because a line that wraps cannot be replaced.
func linePrinter(stderr stderrWriter, quiet bool) (show func(line string), clear func()) {
	switch {
	case quiet:
		return func(string) {}, func() {}
	case !isTerminal(stderr.Writer):
		return func(line string) { fmt.Fprintln(stderr, line) }, func() {}
	}
	show = func(line string) { fmt.Fprintf(stderr, "\r%.79s\x1b[K", line) } // %.79s counts letters, not bytes
	return show, func() { show("") }
}

func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok || os.Getenv("TERM") == "dumb" {
		return false
	}
	_, err := unix.IoctlGetWinsize(int(f.Fd()), unix.TIOCGWINSZ)
	return err == nil
}
