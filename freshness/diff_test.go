package freshness

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestDiffLines(t *testing.T) {
	for _, c := range []struct {
		name, before, now string
		want              []string
	}{
		{"one line", "a", "b", []string{"-a", "+b"}},
		{"in the middle", "a\nb\nc\nd", "a\nB\nc\nd", []string{" a", "-b", "+B", " c"}},
		{"at the end", "a", "a\nb", []string{" a", "+b"}},
		{"at the start", "b", "a\nb", []string{"+a", " b"}},
		{"nothing", "a\nb\nc", "a\nb\nc", nil},
		{"two places", "a\nb\nc\nd\ne", "A\nb\nc\nd\nE", []string{"-a", "+A", " b", " c", " d", "-e", "+E"}},
		{"all gone", "a\nb", "", []string{"-a", "-b", "+"}},
		{"a line moved", "a\nb\nc", "b\nc\na", []string{"-a", " b", " c", "+a"}},
	} {
		t.Run(c.name, func(t *testing.T) { assert.Equal(t, c.want, diffLines(c.before, c.now)) })
	}
}
