package checkpoint

import (
	"regexp"
	"sync"
)

// pattern compiles a regular expression when it is first used: compiling all
// of them takes longer than reading a record.
func pattern(expr string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })
}
