package document

// locator records the offset of the value at a path during a second parse. Positions are
// necessary only for errors, so the first parse does not keep them. Parsers skip a nil
// locator.
type locator struct {
	path    []Step
	level   int // open containers
	matched int // matched steps of the path
	at      int // offset of the value, -1 if not found
}

func newLocator(path []Step) *locator { return &locator{path: path, at: -1} }

// open is called before the value under key at offset at.
func (l *locator) open(key string, at int) {
	if l.matched == l.level && l.level < len(l.path) && l.path[l.level].Key == key {
		if l.matched++; l.matched == len(l.path) && l.at < 0 {
			l.at = at
		}
	}
	l.level++
}

// close is called after the value.
func (l *locator) close() {
	l.level--
	l.matched = min(l.matched, l.level)
}

func whereCanonical(data []byte, l Limits, path []Step) (line, column int) {
	p := &canonical{s: string(data), limits: l, find: newLocator(path)}
	p.mapping(0, 1)
	return position(data, max(p.find.at, 0))
}

func whereJSON(data []byte, l Limits, path []Step) (line, column int) {
	p := &jsonParser{s: string(data), limits: l, find: newLocator(path)}
	_, _ = p.document()
	return position(data, max(p.find.at, 0))
}
