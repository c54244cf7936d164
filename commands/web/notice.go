package web

import (
	"crypto/rand"
	"net/url"
	"strings"
	"sync"
)

// A Notice reports the result of an action, on the page after it.
type Notice struct {
	Text  string
	Lines []string // details
	Next  Link     // page that reverts the action
}

// notices keeps results of actions. The URL of the next page has only a random key, so that
// nobody can make a link that shows another text.
type notices struct {
	mu    sync.Mutex
	kept  map[string]Notice
	order []string
}

// add keeps a notice and returns the URL that shows it.
func (n *notices) add(page string, notice Notice) string {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.kept == nil {
		n.kept = map[string]Notice{}
	}
	key := rand.Text()
	n.kept[key], n.order = notice, append(n.order, key)
	if len(n.order) > 100 {
		delete(n.kept, n.order[0])
		n.order = n.order[1:]
	}
	separator := "?"
	if strings.Contains(page, "?") {
		separator = "&"
	}
	return page + separator + url.Values{"notice": {key}}.Encode()
}

// find returns the notice of a URL's query, or nil.
func (n *notices) find(q url.Values) *Notice {
	n.mu.Lock()
	defer n.mu.Unlock()
	if found, ok := n.kept[q.Get("notice")]; ok {
		return &found
	}
	return nil
}
