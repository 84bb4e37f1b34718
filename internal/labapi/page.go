package labapi

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"io/fs"
	"net/http"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"seckill/web/course"
)

// A page is a folder of files that are sent again only when they changed.
type page struct {
	files map[string][]byte
	tags  map[string]string
}

func newPage(dir fs.FS) *page {
	p := &page{files: map[string][]byte{}, tags: map[string]string{}}
	if dir == nil {
		return p
	}
	err := fs.WalkDir(dir, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := fs.ReadFile(dir, path)
		sum := sha256.Sum256(text)
		p.files[path], p.tags[path] = text, `"`+base64.RawURLEncoding.EncodeToString(sum[:12])+`"`
		return err
	})
	if err != nil { // embedded files cannot fail
		panic(err)
	}
	return p
}

// entrances are the addresses that people open.
var entrances = map[string]string{
	"/":     "index.html",
	"/shop": "shop/index.html",
}

func (p *page) serve(c *gin.Context) error {
	name, ok := entrances[c.Request.URL.Path]
	if !ok {
		name = strings.TrimPrefix(c.Param("path"), "/")
	}
	text, ok := p.files[name]
	if !ok {
		return notFound(c)
	}
	c.Header("Cache-Control", "no-cache") // ask whether it changed
	c.Header("ETag", p.tags[name])
	http.ServeContent(c.Writer, c.Request, name, time.Time{}, bytes.NewReader(text))
	return nil
}

// course answers with all chapters in all languages, so that turning a page or
// switching the language asks nothing more.
func (s *Server) course(c *gin.Context) {
	chapters, err := course.Chapters()
	if err != nil { // embedded, and checked by the tests of the course
		panic(err)
	}
	c.JSON(http.StatusOK, gin.H{"chapters": chapters})
}
