package compare

import "fmt"

// Languages that the HTML report is written in.
var Languages = []string{"en", "zh"}

// A tongue words the report: English sentences and formats in another language.
// nil leaves them as they are.
type tongue map[string]string

func tongueOf(language string) tongue {
	if language == "zh" {
		return chinese
	}
	return nil
}

// tag is the language for HTML.
func (in tongue) tag() string {
	if in == nil {
		return "en"
	}
	return "zh-CN"
}

func (in tongue) say(text string) string {
	if said, ok := in[text]; ok {
		return said
	}
	return text
}

// sayf takes the arguments in the order of the English format; a Chinese one may
// number them.
func (in tongue) sayf(format string, args ...any) string { return fmt.Sprintf(in.say(format), args...) }
