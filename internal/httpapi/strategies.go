package httpapi

import (
	"context"
	"slices"

	"github.com/gin-gonic/gin"

	"seckill/internal/backend"
	"seckill/internal/catalog"
	"seckill/internal/lock"
)

// A Strategy describes a strategy of the catalog, and says whether the strategy can run here.
type Strategy struct {
	catalog.Info
	Title     string            `json:"title"`
	Titles    map[string]string `json:"titles"` // language → title
	Also      []string          `json:"other_names,omitempty"`
	Broken    bool              `json:"broken"`
	Default   bool              `json:"default"`
	Available bool              `json:"available"`
	// the reasons why the strategy cannot run here, and what would change that
	Missing []string `json:"missing"`
	UnfitOn []string `json:"unfit_on"` // the server topologies of the lab on which the strategy breaks

	// Files and Lesson are set only if the call names one strategy.
	Files  []file            `json:"files,omitempty"`  // the strategy's source files
	Lesson map[string]string `json:"lesson,omitempty"` // maps a language to the lesson in Markdown
}

type file struct {
	Name    string `json:"name"`
	Content string `json:"content"`
}

func (s *Server) addState(d Strategy, sl *seller) Strategy {
	d.Default, d.Available, d.Missing = sl == s.standard, sl.strategy != nil, append([]string{}, sl.missing...)
	return d
}

// describe returns the description of a strategy without its files and lessons.
func describe(info catalog.Info) Strategy {
	d := Strategy{Info: info, Title: info.TitleIn("en"), Titles: map[string]string{}, Also: info.OtherNames(),
		Broken: info.Broken(), Missing: []string{}, UnfitOn: info.UnfitOn()}
	// A nil list would be null in JSON, so Needs becomes an empty list.
	d.Needs = append([]backend.Capability{}, d.Needs...)
	for _, language := range catalog.Languages {
		d.Titles[language] = d.TitleIn(language)
	}
	return d
}

func (s *Server) listStrategies(context.Context, *gin.Context) (any, error) {
	all := []Strategy{}
	for _, sl := range s.sellers {
		all = append(all, s.addState(describe(sl.info), sl))
	}
	return gin.H{"strategies": all, "locks": gin.H{
		"lease_ms": s.Settings.LockLease.Milliseconds(), "wait_ms": s.Settings.LockWait.Milliseconds(),
	}}, nil
}

func (s *Server) showStrategy(_ context.Context, c *gin.Context) (any, error) {
	sl, err := s.find(c.Param("name"))
	if err != nil {
		return nil, err
	}
	d, err := DescribeSource(sl.info)
	return s.addState(d, sl), err
}

// DescribeSource returns the description of a strategy with its source files and its lessons.
func DescribeSource(info catalog.Info) (Strategy, error) {
	d := describe(info)
	for _, name := range info.Sources() {
		text, err := info.Files.ReadFile(name)
		if err != nil {
			return d, err
		}
		d.Files = append(d.Files, file{name, string(text)})
	}
	if info.Fenced { // All strategies with fenced locks use this file, too, so it is shown with them.
		d.Files = slices.Insert(d.Files, 1, file{"fenced.go", lock.FencedSource})
	}
	d.Lesson = map[string]string{}
	for _, language := range catalog.Languages {
		if text, err := info.Lesson(language); err == nil { // A fake strategy of a test has no lesson.
			d.Lesson[language] = text
		}
	}
	return d, nil
}
