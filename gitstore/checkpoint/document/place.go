package document

// Position returns the line and column, from 1, of the value at a path in a document that
// DecodeTolerant accepts. If the path does not exist, Position returns the position of
// the deepest existing value on the path. For an invalid document or path it returns 0,
// 0.
func Position(data []byte, path string) (line, column int) {
	d, err := decodeWith(data, DefaultLimits, func(int, int, string) {})
	if err != nil {
		return 0, 0
	}
	steps, err := ParsePath(path)
	if err != nil {
		return 0, 0
	}
	for ; len(steps) > 0; steps = steps[:len(steps)-1] {
		if d.has(steps) {
			return d.Where(steps)
		}
	}
	return 1, 1
}

// has reports whether a value exists at the path.
func (d Parsed) has(path []Step) bool {
	var v any = d.Root
	for _, s := range path {
		var ok bool
		if v, ok = s.in(v); !ok {
			return false
		}
	}
	return true
}

// PathOf returns the path of a key, or of an element if key is an int, below parent in
// the syntax of Lookup.
func PathOf(parent string, key any) string {
	if k, ok := key.(int); ok {
		return JoinIndex(parent, k)
	}
	return JoinPath(parent, AsText(key))
}
