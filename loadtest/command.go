package loadtest

import (
	"fmt"
	"reflect"
	"strings"
)

// Command is the command line that holds the sale of s again, with the same
// buyers.
func (s Scenario) Command() string {
	usual := DefaultScenario().normal()
	if s.Open() { // what the profile does not use is refused
		s.Concurrency = usual.Concurrency
	}
	if s.Profile == Constant {
		s.Buyers = usual.Buyers
	}
	return "seckill load --strategy " + s.Strategy + Flags(s.normal(), usual)
}

// Flags are those that make usual into s, a struct whose fields have them, each
// after a space. What only files can say is left out.
func Flags(s, usual any) string {
	is, was := reflect.ValueOf(s), reflect.ValueOf(usual)
	var b strings.Builder
	for _, f := range reflect.VisibleFields(is.Type()) {
		if f.Anonymous || !f.IsExported() || f.Tag.Get("kong") == "-" || f.Tag.Get("help") == "" {
			continue
		}
		v := is.FieldByIndex(f.Index)
		if reflect.DeepEqual(v.Interface(), was.FieldByIndex(f.Index).Interface()) {
			continue
		}
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		name = strings.ReplaceAll(strings.TrimSuffix(strings.TrimSuffix(name, "_ns"), "_id"), "_", "-")
		text, between := fmt.Sprint(v.Interface()), " "
		switch v.Kind() {
		case reflect.Bool:
			between = "="
		case reflect.Slice:
			text = strings.ReplaceAll(strings.Trim(text, "[]"), " ", ",")
		}
		if strings.ContainsAny(text, "<>!") { // requirements
			text = "'" + text + "'"
		}
		b.WriteString(" --" + name + between + text)
	}
	return b.String()
}
