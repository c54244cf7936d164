package index

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"git-checkpoint/gitstore/internal/git/objectformat"
	"git-checkpoint/gitstore/testing/gittest"
)

// WriteTree equals git write-tree after random changes of the index, with each resulting
// state of git's cache-tree and with unusual sort orders.
func TestRandomHistoryEqualsGit(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("slow: not in short mode")
	}
	for seed := range uint64(6) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			rnd := rand.New(rand.NewPCG(seed, 1))
			r := gittest.New(t)
			blobs := []string{r.Hash("1"), r.Hash("2"), r.Hash("3")}
			r.Git("update-index", "--index-version", []string{"2", "3", "4"}[seed%3], "--force-write-index")
			for range 12 {
				change(r, rnd, blobs)
				if rnd.IntN(3) == 0 {
					r.Git("write-tree")
					continue
				}
				sameTreeNow(t, r)
			}
			sameTree(t, r)
		})
	}
}

// change adds and removes random paths with at most two directory levels, so that paths
// collide.
func change(r *gittest.Repo, rnd *rand.Rand, blobs []string) {
	var lines []string
	for range 1 + rnd.IntN(30) {
		names := make([]string, 1+rnd.IntN(3))
		for i := range names {
			names[i] = randomName(rnd)
		}
		path := strings.Join(names, "/")
		if rnd.IntN(4) == 0 {
			lines = append(lines, line("0", strings.Repeat("0", objectformat.HexSize), path))
			continue
		}
		mode := []string{"100644", "100755", "120000", "160000"}[rnd.IntN(4)]
		lines = append(lines, line(mode, blobs[rnd.IntN(len(blobs))], path))
	}
	r.Pipe([]byte(strings.Join(lines, "\x00")+"\x00"), "update-index", "--replace", "-z", "--index-info")
}

func randomName(rnd *rand.Rand) string {
	const alphabet = "aab-.0\xff "
	b := make([]byte, 1+rnd.IntN(2))
	for i := range b {
		b[i] = alphabet[rnd.IntN(len(alphabet))]
	}
	if s := string(b); s != "." && s != ".." {
		return s
	}
	return "a"
}
