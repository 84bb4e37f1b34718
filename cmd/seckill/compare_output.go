package main

import (
	"errors"
	"fmt"
	"io/fs"

	"seckill/internal/measure"
	"seckill/loadtest/compare"
	"seckill/web"
)

// CompareOutput says where a comparison goes.
type CompareOutput struct {
	JSON     string `name:"json" placeholder:"FILE" help:"Write the result as JSON; - is standard output, in place of the table." group:"output"`
	CSV      string `name:"csv" placeholder:"FILE" help:"Write the figures of every round as CSV; - is standard output." group:"output"`
	Markdown string `placeholder:"FILE" help:"Write the tables as Markdown; - is standard output." group:"output"`
	Readme   string `placeholder:"FILE" help:"Put the table of strategies between the <!-- compare --> marks of a Markdown file." group:"output"`
	Figures  string `placeholder:"FILE" help:"Put the medians into a JSON file, as the lessons read them." group:"output"`
	Quiet    bool   `short:"q" help:"No progress." group:"output"`
}

func (o *CompareOutput) of(r *compare.Result) result {
	return result{"compare", []form{
		{"--json", o.JSON, r.WriteJSON},
		{"--markdown", o.Markdown, r.WriteMarkdown},
		{"--csv", o.CSV, r.WriteCSV},
		{"--readme", o.Readme, measure.WithBlock(o.Readme, "compare", r.WriteTable)},
		{"--figures", o.Figures, measure.WithMember(o.Figures, "compare", r.Figures())},
	}, r.WriteText, r.WriteJSON}
}

func (o *CompareOutput) check() error {
	if err := o.of(&compare.Result{}).check(); err != nil {
		return err
	}
	if o.Readme != "" {
		if err := measure.CheckBlock(o.Readme, "compare"); err != nil {
			return fmt.Errorf("--readme: %w", err)
		}
	}
	return nil
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
