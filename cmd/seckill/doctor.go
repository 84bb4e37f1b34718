package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"text/tabwriter"
	"time"

	"seckill/internal/lab"
)

// DoctorCmd says what is found, in which version, and what to do about the rest.
type DoctorCmd struct {
	JSON bool `help:"For machines."`
}

// A finding is one line of the doctor's table.
type finding struct {
	What    string `json:"what"`
	For     string `json:"for"` // what it is used for
	Found   bool   `json:"found"`
	Version string `json:"version,omitempty"`
	Where   string `json:"where,omitempty"`
	ToDo    string `json:"to_do,omitempty"`
}

const versionLimit = 5 * time.Second

// Run changes nothing. It succeeds whatever is missing: the lab has embedded
// engines.
func (c DoctorCmd) Run(ctx context.Context, stdout io.Writer) error {
	findings := examine(ctx)
	if c.JSON {
		out := json.NewEncoder(stdout)
		out.SetIndent("", "  ")
		return out.Encode(findings)
	}
	return writeFindings(stdout, findings)
}

func examine(ctx context.Context) (findings []finding) {
	search := lab.NewSearch(os.Getenv)
	for _, tool := range lab.ServerTools {
		findings = append(findings, program(ctx, search.Find(tool)))
	}
	return append(findings, temporaryFolder(), adminToken(), runningLab())
}

// program is what there is to say of a program that the script installs.
func program(ctx context.Context, p lab.Program) finding {
	f := finding{What: p.Name, For: p.Use, Found: p.Found(), Where: p.Path}
	if !f.Found {
		f.ToDo = "run deploy/deps.sh in the source of this program, or " + p.ByHand
		return f
	}
	ctx, cancel := context.WithTimeout(ctx, versionLimit)
	defer cancel()
	version, err := p.Version(ctx)
	if err != nil {
		f.ToDo = fmt.Sprintf("it does not run (%v): install it again", err)
	}
	f.Version = version
	return f
}

// temporaryFolder is where the lab makes its own.
func temporaryFolder() finding {
	f := finding{What: "a folder", For: "the lab's data and logs, while it runs", Where: os.TempDir()}
	probe, err := os.MkdirTemp("", "seckill-doctor-*")
	if err != nil {
		f.ToDo = fmt.Sprintf("%v: give a folder that can be written to: seckill up --folder", err)
		return f
	}
	os.Remove(probe)
	f.Found = true
	return f
}

// adminToken is the token that seckill serve would use if it started now.
func adminToken() finding {
	f := finding{What: "an admin token", For: "resets, audits and lists at seckill serve; seckill load needs it, too"}
	given := TokenFlags{Token: os.Getenv("SECKILL_TOKEN"), TokenFile: os.Getenv("SECKILL_TOKEN_FILE")}
	f.Where = given.TokenFile
	if given.Token != "" {
		f.Where = "SECKILL_TOKEN"
	}
	err := given.check()
	if err == nil {
		_, err = given.read()
	}
	switch {
	case given == (TokenFlags{}):
		f.ToDo = "seckill serve makes one at its start, in a file that only you can read, and its log names the file: " +
			"give that to seckill load as --token-file; a running lab's load needs none"
	case errors.Is(err, fs.ErrNotExist):
		f.ToDo = "the file is not there yet: seckill serve makes it, with a new token"
	case err != nil:
		f.ToDo = err.Error()
	default:
		f.Found = true
	}
	return f
}

func runningLab() finding {
	f := finding{What: "a running lab", For: "seckill load takes it; without it, it starts one"}
	switch state, err := lab.Running(host()); {
	case err != nil:
		f.ToDo = err.Error()
	case state == nil:
		f.ToDo = "none runs now: seckill up"
	default:
		f.Found, f.Where = true, state.Page
		if state.Clients != "" {
			f.ToDo = "to reach it with clients of your own, read the addresses and passwords of its servers, and SECKILL_TOKEN for admin calls, into a shell: . " + state.Clients
		}
	}
	return f
}

func writeFindings(out io.Writer, findings []finding) error {
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "\tWHAT\tVERSION\tWHERE\tFOR")
	for _, f := range findings {
		mark, version, where := "ok", f.Version, f.Where
		if !f.Found {
			mark = "--"
		}
		if version == "" {
			version = "-"
		}
		if where == "" {
			where = "-"
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\n", mark, f.What, version, where, f.For)
	}
	if err := table.Flush(); err != nil {
		return err
	}
	for _, f := range findings {
		if f.ToDo != "" {
			fmt.Fprintf(out, "\n%s: %s.", f.What, f.ToDo)
		}
	}
	_, err := fmt.Fprintln(out)
	return err
}
