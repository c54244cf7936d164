package document

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestPosition(t *testing.T) {
	for _, c := range []struct {
		name, text, path string
		line, column     int
	}{
		{"canonical", "a: 1\nb:\n  c: 2\n", "b.c", 3, 6},
		{"yaml", "a: 1\nb: {c: 2}\n", "b.c", 2, 8},
		{"json", "{\n  \"a\": [1, {\"b\": true}]\n}\n", "a[1].b", 2, 18},
		{"not there", "{\n  \"a\": {\"b\": true}\n}\n", "a.x", 2, 8},
		{"nothing there", "{\n  \"a\": 1\n}\n", "x", 1, 1},
		{"no document", "{", "x", 0, 0},
		{"no path", "{}", "", 0, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			line, column := Position([]byte(c.text), c.path)
			assert.Equal(t, []int{c.line, c.column}, []int{line, column})
		})
	}
	assert.Equal(t, `a."b.c"[2]`, PathOf(PathOf("a", "b.c"), 2))
}
