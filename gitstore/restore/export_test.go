package restore

// SetFault has f called at every fault point, nil for nothing.
func SetFault(f func(point string) error) {
	if f == nil {
		f = func(string) error { return nil }
	}
	faultPoint = f
}
