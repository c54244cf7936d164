package treediff

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// What is no count is an error, not a panic.
func TestLinesThatAreNone(t *testing.T) {
	for _, said := range [][]string{{"1\t2"}, {"1\t2\t"}, {"1\t2\t", "from"}, {"x\t2\ta"}} {
		_, err := parseLines(said)
		assert.ErrorContains(t, err, "git diff-tree said", "%q", said)
	}
}
