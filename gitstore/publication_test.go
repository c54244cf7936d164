package gitstore

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestObjectionsToAPublication(t *testing.T) {
	t.Parallel()
	commits := Publication{Unpublished: "abc", Commits: 1}
	secret := Publication{Found: []Secret{{Path: "p"}}, Unpublished: "abc"}
	large := Publication{TooLarge: []LargeFile{{Path: "p", Bytes: 1}}, Unpublished: "abc"}
	for _, c := range []struct {
		name   string
		p      Publication
		policy PublicationPolicy
		want   PublicationObject
		ask    bool
	}{
		{"untracked files are a part of checkpoints", Publication{Untracked: []string{"a"}}, PublicationPolicy{}, NothingObjected, false},
		{"commits without a terminal", commits, PublicationPolicy{}, CommitsObjected, false},
		{"commits at a terminal", commits, PublicationPolicy{CanAsk: true}, CommitsObjected, true},
		{"allowed commits", commits, PublicationPolicy{Commits: true}, NothingObjected, false},
		{"a secret before a question", secret, PublicationPolicy{CanAsk: true}, SecretObjected, false},
		{"a secret that is only warned about", secret, PublicationPolicy{Secrets: true}, CommitsObjected, false},
		{"a large file before a question", large, PublicationPolicy{CanAsk: true, Commits: true}, LargeFileObjected, false},
	} {
		what, ask := c.policy.Objection(&c.p)
		assert.Equal(t, c.want, what, c.name)
		assert.Equal(t, c.ask, ask, c.name)
	}
}
