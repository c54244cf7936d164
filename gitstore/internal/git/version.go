package git

import (
	"context"
	"fmt"
	"strconv"
	"strings"
)

// A Version is a git version, such as {2, 54}.
type Version [2]int

// Version runs git to get its version.
func (g Git) Version(ctx context.Context) (Version, error) {
	line, err := g.Line(ctx, "version")
	if err != nil {
		return Version{}, err
	}
	return ParseVersion(line)
}

// ParseVersion parses the output of `git version`.
func ParseVersion(line string) (v Version, err error) {
	words := strings.Fields(line)
	if len(words) < 3 {
		return v, fmt.Errorf("git version: %q", line)
	}
	parts := strings.SplitN(words[2], ".", 3)
	for i := range v {
		if i >= len(parts) {
			break
		}
		digits := parts[i]
		if end := strings.IndexFunc(digits, func(r rune) bool { return r < '0' || r > '9' }); end >= 0 {
			digits = digits[:end]
		}
		if v[i], err = strconv.Atoi(digits); err != nil {
			return v, fmt.Errorf("git version: %q", line)
		}
	}
	return v, nil
}

// AtLeast reports whether v is major.minor or newer.
func (v Version) AtLeast(major, minor int) bool {
	return v[0] > major || v[0] == major && v[1] >= minor
}
