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
	err := in.ensureProcedure(ctx, name, text)
	if err != nil {
		return fmt.Errorf("stored procedures cannot be made or called in this database: let an administrator "+
			"GRANT CREATE ROUTINE, EXECUTE to the service's account, and start again (%w)", err)
	}
	return nil
}

func (in *Instance) ensureProcedure(ctx context.Context, name, text string) error {
	db := in.DB.WithContext(ctx)
	var body string // empty where there is none, or where another account made it
	err := db.Raw("SELECT COALESCE(routine_definition, '') FROM information_schema.routines "+
		"WHERE routine_schema = DATABASE() AND routine_name = ?", name).Scan(&body).Error
	if err == nil && !strings.HasSuffix(strings.TrimSpace(text), strings.TrimSpace(body)) {
		err = db.Exec("DROP PROCEDURE IF EXISTS " + name).Error
	} else if in.callable(ctx, name) == nil {
		return nil
	}
	if err != nil {
		return err
	}
	if err := db.Exec(text).Error; err != nil && MySQLNumber(err) != MySQLProcedureThere { // another process was faster
		return err
	}
	return in.callable(ctx, name)
}

// callable calls a procedure without arguments, which does nothing: that their
// number is wrong is said after it was found and the account may call it.
func (in *Instance) callable(ctx context.Context, name string) error {
	err := in.DB.WithContext(ctx).Exec("CALL " + name + "()").Error
	if MySQLNumber(err) == MySQLWrongArguments {
		return nil
	}
	return err
}
