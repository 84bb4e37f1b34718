package main

import (
	"fmt"
	"io"

	documents "seckill"
	"seckill/internal/site"
	"seckill/strategies"
	"seckill/web"
)

// SiteCmd writes the page as static files that play without a lab.
type SiteCmd struct {
	Dir string `arg:"" help:"Folder of the site: a new one, an empty one, or one that holds an older site."`
}

// Help returns the text of seckill site --help below the flags.
func (SiteCmd) Help() string {
	return `The folder works on any web server and below any path, such as: python3 -m http.server --directory DIR. It asks no
other server for anything. What needs a lab says so there.`
}

func (c SiteCmd) Run(stdout io.Writer) error {
	s := site.Site{Page: web.Files(), Guarantees: web.Guarantees(), Recordings: web.Recordings(), Documents: documents.Files,
		Strategies: strategies.All(), Version: buildVersion()}
	if err := s.Write(c.Dir); err != nil {
		return err
	}
	_, err := fmt.Fprintf(stdout, "The site is in %s; its first page is index.html.\n", c.Dir)
	return err
}
