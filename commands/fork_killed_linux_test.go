package commands

import (
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A fork that is killed between the moves of its refs leaves complete forks only. The missing
// forks can be made again.
func TestForkKilledBetweenItsRefs(t *testing.T) {
	t.Parallel()
	parts := 0 // kills that left one of the forks
	for _, ref := range []string{"checkpoints/42+a", "checkpoints/42+b", "git-checkpoint/own/42+a", "git-checkpoint/own/42+b"} {
		for _, calls := range []string{"write", "rename"} {
			when := calls + " " + ref
			v, _ := straceVictim(t, 2)
			v.write("untracked", "new\n")
			v.tool("save", "42")
			v.killedAt(".git/refs/"+ref+".lock", calls, "fork", "42", "a", "b")
			made := 0
			var missing []string
			for _, name := range []string{"a", "b"} {
				if _, err := os.Stat(v.path(".git/refs/checkpoints/42+" + name)); err != nil {
					missing = append(missing, name)
					continue
				}
				made++
				assert.Equal(t, 1, len(v.ids("42+"+name)), when)
				assert.Contains(t, v.tool("show", "42+"+name), "untracked", when)
				assert.Contains(t, v.tool("status", "42+"+name), "fork "+name+" of issue 42", when)
			}
			if made == 1 {
				parts++
			}
			for _, name := range missing {
				v.next("fork", "42", name)
			}
			v.sound()
			require.Len(t, v.ids("42"), 3)
		}
	}
	assert.NotZero(t, parts)
}
