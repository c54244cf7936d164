package git

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
)

// A RawChange is an entry of git's raw diff format. A missing file has the mode 0.
type RawChange struct {
	OldMode, NewMode uint32
	Old, New         plumbing.Hash
	Status           byte
	Score            int // similarity of a rename or a copy in percent
	From, Path       string
}

// ParseRaw parses the output of --raw -z: ":<old mode> <new mode> <old hash> <new hash> <letter>" and a
// path. Renames and copies have a score after the letter and two paths. Between commits is an empty field.
// ParseRaw returns the fields of --numstat that follow.
func ParseRaw(out []byte) (changes []RawChange, rest []string, err error) {
	fields := Fields(out)
	for len(fields) > 0 && !strings.Contains(fields[0], "\t") {
		if fields[0] == "" {
			fields = fields[1:]
			continue
		}
		words := strings.Fields(strings.TrimPrefix(fields[0], ":"))
		if len(words) != 5 || len(fields) < 2 {
			return nil, nil, fmt.Errorf("git said %q", fields[0])
		}
		c := RawChange{Status: words[4][0], Path: fields[1], Old: plumbing.NewHash(words[2]), New: plumbing.NewHash(words[3])}
		for i, mode := range []*uint32{&c.OldMode, &c.NewMode} {
			n, err := strconv.ParseUint(words[i], 8, 32)
			if err != nil {
				return nil, nil, fmt.Errorf("git said %q", fields[0])
			}
			*mode = uint32(n)
		}
		n := 2
		if (c.Status == 'R' || c.Status == 'C') && len(fields) > 2 {
			c.Score, _ = strconv.Atoi(words[4][1:])
			c.From, c.Path, n = fields[1], fields[2], 3
		}
		changes, fields = append(changes, c), fields[n:]
	}
	return changes, fields, nil
}
