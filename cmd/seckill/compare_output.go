package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"seckill/internal/measure"
	"seckill/loadtest/compare"
	"seckill/web"
)

// CompareOutput says where a comparison goes.
type CompareOutput struct {
	HTML     string `name:"html" default:"seckill-compare.html" help:"The report, one self-contained page; --html= writes none." group:"output" placeholder:"FILE"`
	Language string `default:"en" enum:"en,zh" help:"Language of the report: ${enum}." group:"output"`
	JSON     string `name:"json" placeholder:"FILE" help:"Write the result as JSON; - is standard output, in place of the table." group:"output"`
	CSV      string `name:"csv" placeholder:"FILE" help:"Write the figures of every round as CSV; - is standard output." group:"output"`
	Markdown string `placeholder:"FILE" help:"Write the tables as Markdown; - is standard output." group:"output"`
	Readme   string `placeholder:"FILE" help:"Put the table of strategies between the <!-- compare --> marks of a Markdown file." group:"output"`
	Figures  string `placeholder:"FILE" help:"Put the medians into a JSON file, as the lessons read them." group:"output"`
	Matrix   string `placeholder:"FILE" help:"A matrix of seckill prove --json for the report. Default: the one built into the program." group:"output"`
	Quiet    bool   `short:"q" help:"No progress." group:"output"`

	matrix *measure.Matrix
}

func (o *CompareOutput) of(r *compare.Result) result {
	return result{"compare", []form{
		{"--json", o.JSON, r.WriteJSON},
		{"--html", o.HTML, func(w io.Writer) error {
			said, err := measure.ReadSentences(web.Files(), o.Language)
			if err != nil {
				return err
			}
			return r.WriteHTML(w, compare.HTML{Matrix: o.matrix, Language: o.Language, Proof: said, Title: titles(o.Language)})
		}},
		{"--markdown", o.Markdown, r.WriteMarkdown},
		{"--csv", o.CSV, r.WriteCSV},
		{"--readme", o.Readme, measure.WithBlock(o.Readme, "compare", r.WriteTable)},
		{"--figures", o.Figures, measure.WithMember(o.Figures, "compare", r.Figures())},
	}, r.WriteText, r.WriteJSON}
}

func (o *CompareOutput) check() (err error) {
	if err := o.of(&compare.Result{}).check(); err != nil {
		return err
	}
	if o.Readme != "" {
		if err := measure.CheckBlock(o.Readme, "compare"); err != nil {
			return fmt.Errorf("--readme: %w", err)
		}
	}
	o.matrix, err = o.readMatrix()
	return err
}

func (o *CompareOutput) readMatrix() (*measure.Matrix, error) {
	if o.Matrix == "" {
		return guarantees()
	}
	f, err := os.Open(o.Matrix)
	if err != nil {
		return nil, fmt.Errorf("--matrix: %w", err)
	}
	defer f.Close()
	m, err := measure.ReadMatrix(f)
	if err != nil {
		return nil, fmt.Errorf("--matrix %s: %w", o.Matrix, err)
	}
	return m, nil
}

// guarantees is the matrix built into the program, or nil.
func guarantees() (*measure.Matrix, error) {
	f, err := web.Guarantees().Open("matrix.json")
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil // built before it was computed
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return measure.ReadMatrix(f)
}

// titles names strategies in a language.
func titles(language string) func(strategy string) string {
	return func(name string) string {
		info, err := strategyNamed("", name)
		if err != nil { // of an older program
			return ""
		}
		return info.TitleIn(language)
	}
}

func (o *CompareOutput) write(stdout io.Writer, r *compare.Result) error {
	printed, err := o.of(r).write(stdout)
	if err == nil && printed && o.HTML != "" {
		fmt.Fprintf(stdout, "Report: %s\n", o.HTML)
	}
	return err
}
