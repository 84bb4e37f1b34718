package labapi

import (
	"net/http"
	"slices"
	"strconv"

	"github.com/gin-gonic/gin"

	"seckill/internal/web"
	"seckill/loadtest/compare"
)

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
