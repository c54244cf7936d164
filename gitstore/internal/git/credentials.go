package git

import "strings"

// maskedQuery replaces the query and the fragment of a URL.
const maskedQuery = "***"

// WithoutCredentials removes user and password from URLs in a text, and masks their queries
// and fragments, which can be tokens.
func WithoutCredentials(text string) string {
	var b strings.Builder
	for {
		before, after, found := strings.Cut(text, "://")
		b.WriteString(before)
		if !found {
			return b.String()
		}
		b.WriteString("://")
		host := endOf(after, "/ \t\n'\"?#")
		if at := strings.LastIndexByte(after[:host], '@'); at >= 0 {
			after = after[at+1:]
		}
		end := endOf(after, " \t\r\n")
		if query := endOf(after[:end], "?#"); query+1 < end {
			b.WriteString(after[:query+1] + maskedQuery)
			// Git quotes the URL. A quote in the query does not end it.
			after = after[query+1:]
			end -= query + 1
			if quote := strings.LastIndexAny(after[:end], `'"`); quote >= 0 {
				end = quote
			}
			after = after[end:]
		}
		text = after
	}
}

// endOf returns the index of the first of the bytes in text, or its length.
func endOf(text, bytes string) int {
	if at := strings.IndexAny(text, bytes); at >= 0 {
		return at
	}
	return len(text)
}
