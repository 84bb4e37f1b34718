package httpapi

import (
	"fmt"
	"io/fs"
	"net/http"
	"path"
	"slices"
	"strings"

	"github.com/gin-gonic/gin"

	"seckill/internal/backend"
	"seckill/internal/catalog"
	"seckill/internal/ledger"
	"seckill/internal/lock"
	"seckill/internal/wire"
)

// A strategy is a catalog entry with what this server can say about it.
type strategy struct {
	Name     string            `json:"name"`
	Title    string            `json:"title"`
	Titles   map[string]string `json:"titles"` // by language
	Family   string            `json:"family"`
	Source   string            `json:"source"` // the article it comes from
	Idea     string            `json:"idea"`
	Promises string            `json:"promises"`
	Breaks   string            `json:"breaks"`
	// Guarantees by question; one that is missing is open.
	Guarantees catalog.Guarantees   `json:"guarantees"`
	Repair     string               `json:"repair,omitempty"` // the strategy to try next when this one breaks
	Needs      []backend.Capability `json:"needs"`
	Stock      ledger.StockStore    `json:"stock"`
	Options    []option             `json:"options"`
	Reserves   bool                 `json:"reserves"` // POST /reservations works
	Accepts    bool                 `json:"accepts"`  // Prefer: respond-async is heard
	Broken     bool                 `json:"broken"`
	Default    bool                 `json:"default"`
	Available  bool                 `json:"available"`
	Missing    []string             `json:"missing"`  // why it is not available, and what to do
	UnfitOn    []string             `json:"unfit_on"` // topologies of the lab on which it is not right

	// Only when one strategy is asked for.
	Files  []file            `json:"files,omitempty"`  // the source that runs
	Lesson map[string]string `json:"lesson,omitempty"` // by language, as Markdown
}

type option struct {
	Flag string `json:"flag"`
	Doc  string `json:"doc"`
}

type file struct {
	Name    string `json:"name"`
	Content string `json:"content"`
}

func (s *Server) describe(sl *seller) strategy {
	i := sl.info
	d := strategy{
		Name: i.Name, Title: i.Title, Titles: map[string]string{}, Family: i.Family, Source: i.Source, Idea: i.Idea,
		Promises: i.Promises, Breaks: i.Breaks, Guarantees: i.Guarantees, Stock: i.Stock,
		Needs:   append([]backend.Capability{}, i.Needs...),
		Options: []option{}, Missing: append([]string{}, sl.missing...), UnfitOn: i.UnfitOn(),
		Repair: i.Repair, Reserves: i.Reserves, Accepts: i.Accepts, Broken: i.Broken(), Default: sl == s.standard, Available: sl.strategy != nil,
	}
	for _, language := range catalog.Languages {
		d.Titles[language] = i.TitleIn(language)
	}
	for _, o := range i.Options {
		d.Options = append(d.Options, option(o))
	}
	return d
}

func (s *Server) listStrategies(c *gin.Context) error {
	all := []strategy{}
	for _, sl := range s.sellers {
		all = append(all, s.describe(sl))
	}
	c.JSON(http.StatusOK, gin.H{"strategies": all, "locks": gin.H{
		"lease_ms": s.Settings.LockLease.Milliseconds(), "wait_ms": s.Settings.LockWait.Milliseconds(),
	}})
	return nil
}

// showStrategy adds the source that runs, and the lesson beside it.
func (s *Server) showStrategy(c *gin.Context) error {
	sl := s.byName[c.Param("name")]
	if sl == nil {
		return refused(wire.ErrUnknownStrategy, fmt.Sprintf("There is no strategy %.64q; there are: %s.", c.Param("name"), s.names()))
	}
	d := s.describe(sl)
	own := strings.ReplaceAll(sl.info.Name, "-", "_") + ".go"
	err := fs.WalkDir(sl.info.Files, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || path.Ext(name) == ".md" {
			return err
		}
		text, err := fs.ReadFile(sl.info.Files, name)
		shown := file{name, string(text)}
		if name == own { // before what it shares with its neighbours
			d.Files = slices.Insert(d.Files, 0, shown)
		} else {
			d.Files = append(d.Files, shown)
		}
		return err
	})
	if err != nil {
		return err
	}
	if sl.info.Fenced { // the purchase that all fenced locks share, after their own file
		d.Files = slices.Insert(d.Files, min(1, len(d.Files)), file{"fenced.go", lock.FencedSource})
	}
	d.Lesson = lesson(sl.info)
	c.JSON(http.StatusOK, d)
	return nil
}

// lesson is empty for a strategy that teaches nothing.
func lesson(i catalog.Info) map[string]string {
	texts := map[string]string{}
	for _, language := range catalog.Languages {
		if text, err := i.Lesson(language); err == nil {
			texts[language] = text
		}
	}
	return texts
}
