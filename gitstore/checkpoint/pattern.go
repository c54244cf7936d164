package checkpoint

import (
	"regexp"
	"sync"
)

// pattern compiles a regular expression at its first use, because compiling all
// expressions takes more time than parsing a record.
func pattern(expr string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })
}
