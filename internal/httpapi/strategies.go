package httpapi

import (
	"net/http"
	"slices"

	"github.com/gin-gonic/gin"

	"seckill/internal/backend"
	"seckill/internal/catalog"
	"seckill/internal/lock"
)

// A strategy is a catalog entry, and whether the strategy can run here.
type strategy struct {
	catalog.Info
	Title     string            `json:"title"`
	Titles    map[string]string `json:"titles"` // by language
	Also      []string          `json:"other_names,omitempty"`
	Broken    bool              `json:"broken"`
	Default   bool              `json:"default"`
	Available bool              `json:"available"`
	Missing   []string          `json:"missing"`  // why the strategy is not available, and how to change that
	UnfitOn   []string          `json:"unfit_on"` // topologies of the lab on which the strategy breaks

	// Set if the call names one strategy.
	Files  []file            `json:"files,omitempty"`  // its source
	Lesson map[string]string `json:"lesson,omitempty"` // by language, as Markdown
}

type file struct {
	Name    string `json:"name"`
	Content string `json:"content"`
}

func (s *Server) describe(sl *seller) strategy {
	d := strategy{Info: sl.info, Title: sl.info.TitleIn("en"), Titles: map[string]string{}, Also: sl.info.OtherNames(),
		Broken: sl.info.Broken(), Default: sl == s.standard, Available: sl.strategy != nil, Missing: append([]string{}, sl.missing...), UnfitOn: sl.info.UnfitOn()}
	d.Needs = append([]backend.Capability{}, d.Needs...) // never nil, so that JSON has a list
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

// showStrategy describes one strategy, with its source and its lesson.
func (s *Server) showStrategy(c *gin.Context) error {
	sl, err := s.find(c.Param("name"))
	if err != nil {
		return err
	}
	d := s.describe(sl)
	for _, name := range sl.info.Sources() {
		text, err := sl.info.Files.ReadFile(name)
		if err != nil {
			return err
		}
		d.Files = append(d.Files, file{name, string(text)})
	}
	if sl.info.Fenced { // all fenced locks share this file
		d.Files = slices.Insert(d.Files, 1, file{"fenced.go", lock.FencedSource})
	}
	d.Lesson = map[string]string{}
	for _, language := range catalog.Languages {
		if text, err := sl.info.Lesson(language); err == nil { // a test's fake has no lesson
			d.Lesson[language] = text
		}
	}
	c.JSON(http.StatusOK, d)
	return nil
}
