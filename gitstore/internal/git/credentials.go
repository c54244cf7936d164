package git

import (
	"regexp"
	"sync"
)

// userOf matches user and password of a URL, and queryOf its query and fragment, which end with the
// last quote: git quotes the URL, and a quote in the query does not end it. They are compiled on first
// use, because most processes print no URL.
var (
	userOf  = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`://[^/\s'"?#]*@`) })
	queryOf = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(://[^\s?#]*[?#])(?:\S*(['"][^\s'"]*)|\S+)`) })
)

// WithoutCredentials removes user and password from URLs in a text, and masks their queries
// and fragments, which can be tokens.
func WithoutCredentials(text string) string {
	return queryOf().ReplaceAllString(userOf().ReplaceAllString(text, "://"), "$1***$2")
}
