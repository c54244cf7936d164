package progress

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// Alike compares prefixes of project names.
func TestAlike(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{"auth", "auth_system", true},
		{"Auth  System Two", "auth_system", true},
		{"auth", "auth", false},
		{"auth system", "auth_system", false},
		{"auth", "oauth", false},
		{"", "auth", false},
		{"auth", "", false},
	} {
		assert.Equal(t, c.want, Alike(c.a, c.b), "%s and %s", c.a, c.b)
	}
}
