package httpapi

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/gin-gonic/gin"

	"seckill/internal/catalog"
	"seckill/internal/ledger"
	"seckill/internal/seckill"
)

func (s *Server) listSKUs(c *gin.Context) error {
	if _, err := readQuery(c); err != nil {
		return err
	}
	ctx, cancel := s.deadline(c)
	defer cancel()
	all, err := s.Ledger.SKUs(ctx)
	if err != nil {
		return err
	}
	c.JSON(http.StatusOK, gin.H{"skus": all})
	return nil
}

func (s *Server) showSKU(c *gin.Context) error {
	if _, err := readQuery(c); err != nil {
		return err
	}
	id, err := parseInteger("SKU", c.Param("id"), 1, maxID)
	if err != nil {
		return err
	}
	ctx, cancel := s.deadline(c)
	defer cancel()
	stock, err := s.Ledger.SKU(ctx, id)
	if err != nil {
		return err
	}
	c.JSON(http.StatusOK, shelf{stock, catalog.Homes(ctx, id, s.catalogued())})
	return nil
}

// A shelf is a SKU's row and what the counters outside of it say.
type shelf struct {
	ledger.Stock
	Homes map[ledger.Home]int64 `json:"homes,omitempty"`
}

const maxName = 255 // characters

// resetTimeout is long: a reset waits for purchases in flight to end.
const resetTimeout = 25 * time.Second

// putSKU sets the ledger first, then what strategies keep elsewhere. It goes
// on when the caller hangs up, and resets of this process take turns: half a
// reset, or two of them mixed, is a sale that nobody set.
func (s *Server) putSKU(c *gin.Context) error {
	if err := s.admin(c); err != nil {
		return err
	}
	if _, err := readQuery(c); err != nil {
		return err
	}
	id, err := parseInteger("SKU", c.Param("id"), 1, maxID)
	if err != nil {
		return err
	}
	name, stock, err := readSKU(c)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(c.Request.Context()), resetTimeout)
	defer cancel()
	select {
	case s.resets <- struct{}{}:
		defer func() { <-s.resets }()
	case <-ctx.Done():
		return refused(seckill.ErrBusy, "Other resets are under way. Nothing was changed: try again.")
	}
	if name == "" {
		if name, err = s.currentName(ctx, id); err != nil {
			return err
		}
	}
	if _, err := s.Ledger.Reset(ctx, id, name, stock); err != nil {
		return err
	}
	for _, sl := range s.sellers {
		if r, ok := sl.strategy.(seckill.Resetter); ok {
			if err := r.Reset(ctx, id, stock); err != nil {
				return s.halfReset(c, sl, err)
			}
		}
	}
	now, err := s.Ledger.SKU(ctx, id)
	if err != nil {
		return err
	}
	c.JSON(http.StatusOK, now)
	return nil
}

func readSKU(c *gin.Context) (name string, stock int64, err error) {
	body, err := readBody(c)
	if err != nil {
		return "", 0, err
	}
	stock = -1
	err = readObject(body, func(field string, v value) (err error) {
		switch field {
		case "stock":
			stock, err = v.integer(field, 0, seckill.MaxStock)
		case "name":
			name, err = v.text(field)
			if err == nil && (name == "" || utf8.RuneCountInString(name) > maxName || strings.ContainsFunc(name, unicode.IsControl)) {
				err = invalid(field, fmt.Sprintf("must have 1 to %d characters and no control characters", maxName))
			}
		default:
			err = unknownField(field, "name", "stock")
		}
		return err
	})
	if err == nil && stock < 0 {
		err = invalid("stock", "is missing")
	}
	return name, stock, err
}

func (s *Server) currentName(ctx context.Context, id int64) (string, error) {
	stock, err := s.Ledger.SKU(ctx, id)
	if errors.Is(err, seckill.ErrUnknownSKU) {
		return fmt.Sprintf("SKU %d", id), nil
	}
	return stock.Name, err
}

func (s *Server) halfReset(c *gin.Context, sl *seller, err error) error {
	s.log(c, slog.LevelWarn, "a reset is incomplete", "strategy", sl.info.Name, "error", err)
	is := answerTo(err).err
	if is != seckill.ErrBusy {
		is = seckill.ErrUnavailable
	}
	return refused(is, fmt.Sprintf("The ledger was reset, but what the strategy %s keeps outside of it was not "+
		"(a lock that is still held, or a backend that is down). Repeat the call before you sell.", sl.info.Name))
}
