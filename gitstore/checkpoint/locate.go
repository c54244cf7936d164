package checkpoint

// locator notes where the value at a path begins while a parser runs over the
// text again: positions are only wanted for an error, so that reading need
// not keep them. A nil locator does nothing.
type locator struct {
	path    []step
	level   int // containers that are open
	matched int // how many steps of the path they are
	at      int // offset of the value, -1 while it is not found
}

func newLocator(path []step) *locator { return &locator{path: path, at: -1} }

// open is called before the value under key, which begins at offset at.
func (l *locator) open(key string, at int) {
	if l.matched == l.level && l.level < len(l.path) && l.path[l.level].key == key {
		if l.matched++; l.matched == len(l.path) && l.at < 0 {
			l.at = at
		}
	}
	l.level++
}

// close is called after it.
func (l *locator) close() {
	l.level--
	l.matched = min(l.matched, l.level)
}

func whereCanonical(data []byte, l Limits, path []step) (line, column int) {
	p := &canonical{s: string(data), limits: l, find: newLocator(path)}
	p.mapping(0, 1)
	return position(data, max(p.find.at, 0))
}

func whereJSON(data []byte, l Limits, path []step) (line, column int) {
	p := &jsonParser{s: string(data), limits: l, find: newLocator(path)}
	_, _ = p.document()
	return position(data, max(p.find.at, 0))
}
