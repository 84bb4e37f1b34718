package labapi

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/gin-gonic/gin"

	"seckill/internal/catalog"
	"seckill/internal/measure"
	"seckill/internal/web"
	"seckill/loadtest/compare"
)

// A download is one form of a result.
type download struct {
	name, mime string
	write      func(s *Server, r *compare.Result, language string, w io.Writer) error
}

var downloads = []download{
	{"report.html", "text/html; charset=utf-8", (*Server).writeReport},
	{"result.json", "application/json", func(_ *Server, r *compare.Result, _ string, w io.Writer) error { return r.WriteJSON(w) }},
	{"table.csv", "text/csv; charset=utf-8", func(_ *Server, r *compare.Result, _ string, w io.Writer) error { return r.WriteCSV(w) }},
	{"table.md", "text/markdown; charset=utf-8", func(_ *Server, r *compare.Result, _ string, w io.Writer) error { return r.WriteMarkdown(w) }},
}

// reportPolicy lets the report use its own style and nothing else: no script, no
// request, and no origin whose lab it could drive. It quotes what services and
// servers said.
const reportPolicy = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; sandbox"

func (s *Server) downloadComparison(c *gin.Context) error {
	i := slices.IndexFunc(downloads, func(d download) bool { return d.name == c.Param("file") })
	if i < 0 {
		return notFound(c)
	}
	language := c.DefaultQuery("language", compare.Languages[0])
	if !slices.Contains(compare.Languages, language) {
		p := web.BadRequest("")
		p.Blame("language", "unknown_language", nil, "give one of "+strings.Join(compare.Languages, ", "))
		return p
	}
	whole, err := s.findResult(c.Param("id"))
	if err != nil {
		return err
	}
	var text bytes.Buffer // an answer that broke off would look whole
	if err := downloads[i].write(s, whole.Result, language, &text); err != nil {
		s.Log.Error("write a result", "comparison", whole.ID, "as", downloads[i].name, "error", err)
		return &web.Problem{Code: "internal", Status: http.StatusInternalServerError,
			Detail: "The result could not be written in this form: " + err.Error() + "."}
	}
	place := "attachment"
	if downloads[i].name == "report.html" {
		place = "inline"
		c.Header("Content-Security-Policy", reportPolicy)
	}
	c.Header("Content-Disposition", fmt.Sprintf(`%s; filename="seckill-compare-%s-%s"`, place,
		whole.Started.UTC().Format("20060102-150405"), downloads[i].name))
	c.Data(http.StatusOK, downloads[i].mime, text.Bytes())
	return nil
}

func (s *Server) writeReport(r *compare.Result, language string, w io.Writer) error {
	said, _ := measure.ReadSentences(s.Page, language) // the report goes without them, in English
	return r.WriteHTML(w, compare.HTML{Matrix: s.matrix(), Language: language, Proof: said, Title: func(name string) string {
		i := slices.IndexFunc(s.Strategies, func(info catalog.Info) bool { return info.Name == name })
		if i < 0 {
			return ""
		}
		return s.Strategies[i].TitleIn(language)
	}})
}

// matrix is the guarantee matrix that the program was built with, if any.
func (s *Server) matrix() *measure.Matrix {
	if s.Guarantees == nil {
		return nil
	}
	f, err := s.Guarantees.Open("matrix.json")
	if err != nil {
		return nil
	}
	defer f.Close()
	m, err := measure.ReadMatrix(f)
	if err != nil {
		return nil // the report goes without it
	}
	return m
}

// pairsOfComparison compares each strategy of a result with one of them: with the
// fastest that held, unless the query names another.
func (s *Server) pairsOfComparison(c *gin.Context) error {
	whole, err := s.findResult(c.Param("id"))
	if err != nil {
		return err
	}
	with := c.Query("with")
	if with == "" {
		with = whole.Result.Fastest()
	} else if whole.Result.Entry(with) == nil {
		p := web.BadRequest("")
		p.Blame("with", "not_compared", map[string]any{"name": with}, "this comparison has no strategy "+with)
		return p
	}
	c.JSON(http.StatusOK, gin.H{"with": with, "pairs": whole.Result.Pairs(with)})
	return nil
}

const defaultLimit = 20 // percent

// compareComparisons says what changed from an older comparison to another, or
// why the two cannot be compared.
func (s *Server) compareComparisons(c *gin.Context) error {
	limit := float64(defaultLimit)
	if text := c.Query("limit"); text != "" {
		given, err := strconv.ParseFloat(text, 64)
		if err != nil || !(given >= 0 && given <= 100) {
			p := web.BadRequest("")
			p.Blame("limit", "range", map[string]any{"min": 0, "max": 100}, "give a percentage from 0 to 100")
			return p
		}
		limit = given
	}
	is, err := s.findResult(c.Param("id"))
	if err != nil {
		return err
	}
	was, err := s.findResult(c.Param("older"))
	if err != nil {
		return err
	}
	type difference struct {
		Setting string `json:"setting"`
		Was     int64  `json:"was"`
		Is      int64  `json:"is"`
	}
	differences := []difference{}
	for _, d := range was.Result.Differences(is.Result.Settings) {
		differences = append(differences, difference(d))
	}
	is.Result.CompareWith(was.Result, limit)
	against := is.Result.Against
	c.JSON(http.StatusOK, gin.H{
		"comparable":  len(differences) == 0 && len(against.Changes) > 0,
		"differences": differences, "against": against, "caveats": caveats(was.Result, is.Result),
	})
	return nil
}

// caveats are other differences of two results, which may explain a change.
func caveats(was, is *compare.Result) []string {
	all := []string{}
	note := func(what string, same bool) {
		if !same {
			all = append(all, what)
		}
	}
	versions := func(r *compare.Result) (all []string) {
		for _, b := range r.Servers {
			all = append(all, b.Name+" "+string(b.Tier)+" "+b.Version)
		}
		slices.Sort(all)
		return all
	}
	note("machine", was.Machine == is.Machine)
	note("version", was.Version == is.Version)
	note("servers", slices.Equal(versions(was), versions(is)))
	note("durability", slices.Equal(was.Durability, is.Durability))
	note("services", len(was.Targets) == len(is.Targets))
	note("locks", was.Locks == nil || is.Locks == nil || *was.Locks == *is.Locks)
	note("turns", was.Repeats == is.Repeats && was.TurnSeconds == is.TurnSeconds)
	note("interrupted", !was.Interrupted && !is.Interrupted)
	return all
}
