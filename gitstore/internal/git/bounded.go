package git

// maxKept limits the start and the end of standard error that are kept, in bytes each. A
// server can print any amount to it.
const maxKept = 32 << 10

// A boundedText keeps the start and the end of the text written to it.
type boundedText struct {
	head, tail []byte
	cut        bool // text between head and tail is missing
}

func (t *boundedText) Write(p []byte) (int, error) {
	n := len(p)
	room := min(maxKept-len(t.head), n)
	t.head, p = append(t.head, p[:room]...), p[room:]
	if t.tail = append(t.tail, p...); len(t.tail) > 2*maxKept {
		t.tail = append(t.tail[:0], t.tail[len(t.tail)-maxKept:]...)
		t.cut = true
	}
	return n, nil
}

// String returns the kept text. A line break replaces missing text.
func (t *boundedText) String() string {
	if t.cut {
		return string(t.head) + "\n" + string(t.tail)
	}
	return string(t.head) + string(t.tail)
}
