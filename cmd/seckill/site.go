package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"

	"seckill/internal/site"
	"seckill/strategies"
	"seckill/web"
)

// SiteCmd writes the page as static files, in which the game works without a lab.
type SiteCmd struct {
	Dir    string `arg:"" help:"Folder of the site: a new one, an empty one, or one that holds an older site."`
	Source string `default:"." placeholder:"FOLDER" help:"Folder with this program's README.md and docs (${default})."`
}

func (SiteCmd) Help() string {
	return `The folder works on any web server and below any path, such as: python3 -m http.server --directory DIR.
It loads nothing from other servers. A screen that needs a lab says so.`
}

// Validate checks that the documents exist, because Run first removes an old site.
func (c SiteCmd) Validate() error {
	if _, err := os.Stat(filepath.Join(c.Source, "docs", "cli.md")); err != nil {
		return fmt.Errorf("--source %s is not the source of this program, whose README.md and docs the site shows: %w",
			c.Source, err)
	}
	return nil
}

func (c SiteCmd) Run(stdout io.Writer) error {
	s := site.Site{Page: web.Files(), Guarantees: web.Guarantees(), Recordings: web.Recordings(),
		Checkout: os.DirFS(c.Source), Strategies: strategies.All(), Version: buildVersion()}
	if err := s.Write(c.Dir); err != nil {
		return err
	}
	_, err := fmt.Fprintf(stdout, "The site is in %s. To read it: python3 -m http.server --bind 127.0.0.1 --directory %[1]s\n", c.Dir)
	return err
}
