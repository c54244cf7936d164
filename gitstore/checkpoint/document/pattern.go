package document

import (
	"regexp"
	"sync"
)

// Pattern compiles a regular expression at its first use, because compiling all
// expressions takes more time than parsing a record.
func Pattern(expr string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })
}
