package backend

import (
	"context"
	"errors"
	"fmt"
	"strings"
)

// procedures are the stored procedures that strategies call, by name.
var procedures = map[string]string{}

// AddProcedure has every instance on MySQL or MariaDB make sure that the
// database has the procedure. text creates it.
func AddProcedure(name, text string) string {
	procedures[name] = text
	return name
}

// openProcedures creates what is missing, and what another build made with another
// text anew. Several processes may do so at once. An account that may not is no
// error: the instance lacks Procedures then.
func (in *Instance) openProcedures(ctx context.Context) {
	for name, text := range procedures {
		if err := in.openProcedure(ctx, name, text); err != nil {
			in.lacks[Procedures] = in.mayNot(ctx, err)
			return
		}
	}
}

func (in *Instance) openProcedure(ctx context.Context, name, text string) error {
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

// mayNot says what to grant.
func (in *Instance) mayNot(ctx context.Context, cause error) string {
	var on struct{ Name, Account string }
	if err := in.DB.WithContext(ctx).Raw("SELECT DATABASE() AS name, CURRENT_USER() AS account").Scan(&on).Error; err != nil {
		cause = errors.Join(cause, err)
	}
	user, host, _ := strings.Cut(on.Account, "@")
	return fmt.Sprintf("stored procedures cannot be made or called in this database (%v): let an administrator "+
		"GRANT CREATE ROUTINE, EXECUTE ON `%s`.* TO '%s'@'%s', and start again", cause, on.Name, user, host)
}

// Public is a reason of Has as anybody may read it: without the account, the
// database, and what the server said.
func (in *Instance) Public(reason string) string {
	if reason == in.lacks[Procedures] {
		return "this database's account may not make or call stored procedures (GET /readyz with the service's token tells its administrator what to grant)"
	}
	return reason
}
