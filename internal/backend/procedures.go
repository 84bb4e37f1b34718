package backend

import (
	"context"
	"fmt"
	"strings"
)

// EnsureProcedure creates a stored procedure that is missing, and one that another
// build made with another text anew; text creates it. Several processes may do so at
// once.
func (in *Instance) EnsureProcedure(ctx context.Context, name, text string) error {
	db := in.DB.WithContext(ctx)
	var bodies []string // one or none; empty where another account made it
	err := db.Raw("SELECT COALESCE(routine_definition, '') FROM information_schema.routines "+
		"WHERE routine_schema = DATABASE() AND routine_name = ?", name).Scan(&bodies).Error
	if err == nil && len(bodies) > 0 {
		if strings.HasSuffix(strings.TrimSpace(text), strings.TrimSpace(bodies[0])) {
			return nil
		}
		err = db.Exec("DROP PROCEDURE IF EXISTS " + name).Error
	}
	if err == nil {
		err = db.Exec(text).Error
	}
	if err == nil || MySQLNumber(err) == MySQLProcedureThere { // another process was faster
		return nil
	}
	return fmt.Errorf("stored procedures cannot be made or called in this database: let an administrator "+
		"GRANT CREATE ROUTINE, EXECUTE to the service's account, and start again (%w)", err)
}
