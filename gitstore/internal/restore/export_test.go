package restore

// SetFault sets a function called at every fault point; nil removes it.
func SetFault(f func(point string) error) {
	if f == nil {
		f = func(string) error { return nil }
	}
	faultPoint = f
}

// SetMaxInMemory sets the size of the largest file that a restore copies, and returns the former one.
func SetMaxInMemory(size int64) (former int64) {
	former, maxInMemory = maxInMemory, size
	return former
}
