package remote

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestPushRetriesDependOnTheReason checks the number of tries: one for a server's rule,
// several for a lock, few for other reasons.
func TestPushRetriesDependOnTheReason(t *testing.T) {
	t.Parallel()
	for reason, want := range map[string]int{
		"pre-receive hook declined":                                                         1,
		"protected branch hook declined":                                                    1,
		"push declined due to repository rule":                                              1,
		"deny updating a hidden ref":                                                        1,
		"prohibited by Gerrit: not permitted: update":                                       1,
		"TF401027: You need the Git 'GenericContribute' permission to perform this action.": 1,
		"unpacker error":                                                                    1,
		"failed to update ref":                                                              6,
		"failed to lock":                                                                    6,
		"lock error: LOCK_FAILURE":                                                          6,
		"reference already exists":                                                          3,
		"TF401028: The reference has already been updated":                                  3,
		"": 3,
		"cannot lock ref 'refs/checkpoints/42': Unable to create 'x.lock': File exists.": 6,
	} {
		assert.Equal(t, want, refusal{reason: reason}.tries(), reason)
	}
}
