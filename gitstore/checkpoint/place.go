package checkpoint

// Position returns where the value at a path begins in a document that
// DecodeTolerant reads, line and column counted from 1. A path that leads
// nowhere gives the place of the last mapping or list on the way that is
// there; a document that cannot be read gives 0, 0.
func Position(data []byte, path string) (line, column int) {
	d, err := decodeWith(data, DefaultLimits, func(int, int, string) {})
	if err != nil {
		return 0, 0
	}
	steps, err := parsePath(path)
	if err != nil {
		return 0, 0
	}
	for ; len(steps) > 0; steps = steps[:len(steps)-1] {
		if d.has(steps) {
			return d.where(steps)
		}
	}
	return 1, 1
}

// has reports whether there is a value at the path.
func (d document) has(path []step) bool {
	var v any = d.root
	for _, s := range path {
		var ok bool
		if v, ok = s.in(v); !ok {
			return false
		}
	}
	return true
}

// PathOf writes the path of a key, or with a number that of an element, below
// parent the way Lookup reads it.
func PathOf(parent string, key any) string {
	if k, ok := key.(int); ok {
		return joinIndex(parent, k)
	}
	return joinPath(parent, asText(key))
}
