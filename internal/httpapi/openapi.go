package httpapi

import (
	_ "embed"
	"net/http"

	"github.com/gin-gonic/gin"
)

//go:embed openapi.json
var openAPI []byte

func serveOpenAPI(c *gin.Context) { c.Data(http.StatusOK, "application/json", openAPI) }
