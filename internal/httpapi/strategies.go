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
	"seckill/internal/lock"
	"seckill/internal/wire"
)

// A strategy is a catalog entry with what this server can say about it.
type strategy struct {
	catalog.Info
	Titles    map[string]string `json:"titles"` // by language
	Broken    bool              `json:"broken"`
	Default   bool              `json:"default"`
	Available bool              `json:"available"`
	Missing   []string          `json:"missing"`  // why it is not available, and what to do
	UnfitOn   []string          `json:"unfit_on"` // topologies of the lab on which it is not right

	// Only when one strategy is asked for.
	Files  []file            `json:"files,omitempty"`  // the source that runs
	Lesson map[string]string `json:"lesson,omitempty"` // by language, as Markdown
}

type file struct {
	Name    string `json:"name"`
	Content string `json:"content"`
}

func (s *Server) describe(sl *seller) strategy {
	d := strategy{Info: sl.info, Titles: map[string]string{}, Broken: sl.info.Broken(), Default: sl == s.standard,
		Available: sl.strategy != nil, Missing: append([]string{}, sl.missing...), UnfitOn: sl.info.UnfitOn()}
	d.Needs = append([]backend.Capability{}, d.Needs...) // a list, also if it is empty
	for _, language := range catalog.Languages {
		d.Titles[language] = d.TitleIn(language)
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
