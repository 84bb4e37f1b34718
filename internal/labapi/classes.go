package labapi

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"seckill/internal/classroom"
	"seckill/internal/game"
	"seckill/internal/web"
	"seckill/web/course"
)

// classKey is the header by which a teacher or a learner shows who they are:
// CODE.KEY. It is not Authorization, which is the operator's.
const classKey = "X-Class-Key"

func (s *Server) openClasses() {
	var skipped []error
	s.classes, skipped = classroom.Open(s.History, s.Log, time.Now, func() {
		s.classChanges.Add(1)
		s.bell.ring()
	})
	for _, why := range skipped {
		s.Log.Warn("a file of the history is left out", "why", why)
	}
}

func (s *Server) routeClasses(lab gin.IRoutes) {
	lab.POST("/classes", s.handle(s.openClass))
	lab.GET("/classes/:code", s.handle(s.showClass))
	lab.DELETE("/classes/:code", s.handle(s.deleteClass))
	lab.GET("/classes/:code/results.csv", s.handle(s.exportClass))
	lab.GET("/classes/:code/me", s.handle(s.showLearner))
	lab.POST("/classes/:code/learners", s.handle(s.joinClass))
	lab.DELETE("/classes/:code/learners/:nickname", s.handle(s.removeLearner))
	lab.POST("/classes/:code/results", s.handle(s.noteResult))
}

// fromClass reports whether a call is one that members of a class may make from
// other machines, also without the lab's token: what concerns their class, whose
// handlers ask for the key, and games.
func (s *Server) fromClass(r *http.Request) bool {
	const lab = "/api/lab/v1/"
	if strings.HasPrefix(r.URL.Path, lab+"classes/") {
		return true
	}
	if r.URL.Path != lab+"games" && !strings.HasPrefix(r.URL.Path, lab+"games/") {
		return false
	}
	code, key := memberOf(r)
	return key != "" && s.classes.IsMember(code, key)
}

// memberOf reads the header; key is "" if there is none, or two.
func memberOf(r *http.Request) (code, key string) {
	given := r.Header.Values(classKey)
	if len(given) != 1 {
		return "", ""
	}
	code, key, _ = strings.Cut(given[0], ".")
	return code, key
}

// keyOf is the key for the class of the call's address.
func keyOf(c *gin.Context) (code, key string) {
	code, key = memberOf(c.Request)
	if classroom.Code(code) != classroom.Code(c.Param("code")) {
		key = ""
	}
	return c.Param("code"), key
}

// ofClass turns a class's mistake into an answer.
func ofClass(err error) error {
	var m *classroom.Mistake
	if !errors.As(err, &m) {
		return err
	}
	status := http.StatusConflict
	switch m.Code {
	case classroom.UnknownClass, classroom.UnknownLearner:
		status = http.StatusNotFound
	case classroom.WrongKey:
		status = http.StatusForbidden
	case classroom.BadNickname:
		status = http.StatusBadRequest
	}
	return &web.Problem{Code: m.Code, Status: status, Detail: m.Detail}
}

// show answers with what is no other's to see, nor to be kept by a cache.
func show(c *gin.Context, status int, what any, err error) error {
	if err != nil {
		return ofClass(err)
	}
	c.Header("Cache-Control", "no-store")
	c.JSON(status, what)
	return nil
}

func (s *Server) openClass(c *gin.Context) error {
	if err := web.ReadJSON(c.Writer, c.Request); err != nil {
		return err
	}
	class, key, err := s.classes.New()
	return show(c, http.StatusCreated, gin.H{"code": class.Code, "key": key, "expires": class.Expires}, err)
}

func (s *Server) showClass(c *gin.Context) error {
	class, err := s.classes.Class(keyOf(c))
	return show(c, http.StatusOK, class, err)
}

func (s *Server) deleteClass(c *gin.Context) error {
	if err := s.classes.Delete(keyOf(c)); err != nil {
		return ofClass(err)
	}
	c.Status(http.StatusNoContent)
	return nil
}

func (s *Server) exportClass(c *gin.Context) error {
	class, err := s.classes.Class(keyOf(c))
	if err != nil {
		return ofClass(err)
	}
	var levels []string
	for _, t := range game.Tasks() {
		levels = append(levels, t.Name)
	}
	c.Header("Cache-Control", "no-store")
	c.Header("Content-Type", "text/csv; charset=utf-8")
	c.Header("Content-Disposition", fmt.Sprintf("attachment; filename=%q", "class-"+class.Code+".csv"))
	return class.WriteCSV(c.Writer, levels)
}

func (s *Server) showLearner(c *gin.Context) error {
	learner, err := s.classes.Learner(keyOf(c))
	return show(c, http.StatusOK, learner, err)
}

func (s *Server) joinClass(c *gin.Context) error {
	var nickname string
	if err := web.ReadJSON(c.Writer, c.Request, web.Field{Name: "nickname", Into: &nickname, Required: true}); err != nil {
		return err
	}
	name, key, err := s.classes.Join(c.Param("code"), nickname)
	return show(c, http.StatusCreated, gin.H{"code": classroom.Code(c.Param("code")), "nickname": name, "key": key}, err)
}

func (s *Server) removeLearner(c *gin.Context) error {
	code, key := keyOf(c)
	if err := s.classes.Remove(code, key, c.Param("nickname")); err != nil {
		return ofClass(err)
	}
	c.Status(http.StatusNoContent)
	return nil
}

// noteResult notes what a learner did. The lab looks at the game or the run itself:
// a page cannot claim what did not happen.
func (s *Server) noteResult(c *gin.Context) error {
	var played, chapter, run, said string
	if err := web.ReadJSON(c.Writer, c.Request, web.Field{Name: "game", Into: &played}, web.Field{Name: "chapter", Into: &chapter},
		web.Field{Name: "run", Into: &run}, web.Field{Name: "said", Into: &said}); err != nil {
		return err
	}
	code, key := keyOf(c)
	switch {
	case played != "" && chapter == "" && run == "" && said == "":
		return s.noteGame(c, code, key, played)
	case played != "" || chapter == "" || (run == "") != (said == ""):
		return web.BadRequest("Give a game; or a chapter that was read; or a chapter, the run that was foretold, and what was said of it.")
	}
	about, err := chapterNamed(chapter)
	if err != nil {
		return err
	}
	if run != "" {
		return s.notePrediction(c, code, key, about, run, said)
	}
	learner, err := s.classes.Read(code, key, about.Name)
	return show(c, http.StatusOK, learner, err)
}

func (s *Server) noteGame(c *gin.Context, code, key, id string) error {
	hall, err := s.hall()
	if err != nil {
		return err
	}
	state, err := hall.State(id)
	if err != nil {
		return s.ofGame(err)
	}
	if state.Level == "" || state.Grade == nil || !state.Grade.Won {
		return &web.Problem{Code: classroom.NotSolved, Status: http.StatusConflict, Detail: "This game has not solved a level."}
	}
	g := state.Grade
	solved := classroom.Solved{Moves: state.MovesMade, Switches: state.Switches, Short: g.Golf == "even" || g.Golf == "better"}
	if g.SaidImpossible {
		solved = classroom.Solved{Impossible: true, Short: true}
	}
	learner, err := s.classes.Solve(code, key, state.Level, solved)
	return show(c, http.StatusOK, learner, err)
}

func chapterNamed(name string) (course.Chapter, error) {
	chapters, err := course.Chapters()
	if err != nil { // embedded, and checked by the tests of the course
		panic(err)
	}
	i := slices.IndexFunc(chapters, func(c course.Chapter) bool { return c.Name == name })
	if i < 0 {
		return course.Chapter{}, &web.Problem{Code: classroom.UnknownChapter, Status: http.StatusNotFound, Detail: "There is no such chapter: /api/lab/v1/course lists them."}
	}
	return chapters[i], nil
}

// What may be said before a run, of the units that it will sell.
const (
	sellsFewer = "fewer"
	sellsAll   = "all"
	sellsMore  = "more"
)

func (s *Server) notePrediction(c *gin.Context, code, key string, about course.Chapter, run, said string) error {
	if said != sellsFewer && said != sellsAll && said != sellsMore {
		return web.Invalid("said", "unknown", nil, "must be fewer, all or more")
	}
	e, err := s.runNamed(run)
	if err != nil {
		return err
	}
	r := s.runs.read(e)
	b := about.Break
	if r.State != Done || !slices.Equal(r.Settings.Strategies, []string{b.Strategy}) || len(r.Lanes) != 1 || r.Lanes[0].Result == nil ||
		r.Lanes[0].Result.Audit == nil || r.Lanes[0].Result.Audit.Initial != int64(b.Stock) {
		return &web.Problem{Code: classroom.NotForetold, Status: http.StatusConflict, Detail: "This run is not the one of the chapter, or it is not over."}
	}
	audit := r.Lanes[0].Result.Audit
	came := sellsAll
	if audit.Sold < audit.Initial {
		came = sellsFewer
	} else if audit.Sold > audit.Initial {
		came = sellsMore
	}
	learner, err := s.classes.Predict(code, key, about.Name, said, said == came)
	return show(c, http.StatusOK, learner, err)
}
