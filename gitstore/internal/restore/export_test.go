package restore

// SetFault has f called at every fault point, nil for nothing.
func SetFault(f func(point string) error) {
	if f == nil {
		f = func(string) error { return nil }
	}
	faultPoint = f
}

// Unmodified is the decision by the stat data alone.
var Unmodified = unmodified

// StatOf returns what the staging area keeps of a file.
var StatOf = statOf
