package httpapi

import (
	"net/http"
	"slices"

	"github.com/gin-gonic/gin"

	"seckill/internal/backend"
	"seckill/internal/catalog"
	"seckill/internal/lock"
)

// A strategy is a catalog entry with what this server can say about it.
type strategy struct {
	catalog.Info
	Title     string            `json:"title"`
	Titles    map[string]string `json:"titles"`                // by language
	Also      []string          `json:"other_names,omitempty"` // what people call it
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
	d := strategy{Info: sl.info, Title: sl.info.TitleIn("en"), Titles: map[string]string{}, Also: sl.info.OtherNames(),
		Broken: sl.info.Broken(), Default: sl == s.standard, Available: sl.strategy != nil, Missing: append([]string{}, sl.missing...), UnfitOn: sl.info.UnfitOn()}
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
	if sl.info.Fenced { // the purchase that all fenced locks share, after their own file
		d.Files = slices.Insert(d.Files, 1, file{"fenced.go", lock.FencedSource})
	}
	d.Lesson = map[string]string{}
	for _, language := range catalog.Languages {
		if text, err := sl.info.Lesson(language); err == nil { // a fake in a test has none
			d.Lesson[language] = text
		}
	}
	c.JSON(http.StatusOK, d)
	return nil
}
