package forge

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestAPI compares URLs with the forges' documentation.
func TestAPI(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		site      Site
		api, page string
	}{
		{
			Site{Kind: GitHub, Web: "https://github.com", Project: "o/r.x"},
			"https://api.github.com/repos/o/r.x/issues/42", "https://github.com/o/r.x/issues/42",
		},
		{
			Site{Kind: GitHub, Web: "https://acme.ghe.com", Project: "o/r"},
			"https://api.acme.ghe.com/repos/o/r/issues/42", "https://acme.ghe.com/o/r/issues/42",
		},
		{
			Site{Kind: GitHub, Web: "https://ghe.example.com:8443", Project: "o/r"},
			"https://ghe.example.com:8443/api/v3/repos/o/r/issues/42", "https://ghe.example.com:8443/o/r/issues/42",
		},
		{
			Site{Kind: GitLab, Web: "https://gitlab.com", Project: "g/sub group/p"},
			"https://gitlab.com/api/v4/projects/g%2Fsub%20group%2Fp/issues/42", "https://gitlab.com/g/sub%20group/p/-/issues/42",
		},
		{
			Site{Kind: GitLab, Web: "https://dev.example.com/gitlab", Project: "g/p"},
			"https://dev.example.com/gitlab/api/v4/projects/g%2Fp/issues/42", "https://dev.example.com/gitlab/g/p/-/issues/42",
		},
		{
			Site{Kind: Gitea, Web: "https://codeberg.org", Project: "o/r?x#y"},
			"https://codeberg.org/api/v1/repos/o/r%3Fx%23y/issues/42", "https://codeberg.org/o/r%3Fx%23y/issues/42",
		},
	} {
		assert.Equal(t, c.api, c.site.api("42"))
		assert.Equal(t, c.page, c.site.issueURL("42"))
	}
}
