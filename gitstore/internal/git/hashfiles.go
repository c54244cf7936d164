package git

import (
	"bytes"
	"context"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
)

// HashFiles returns the blobs that git add would make of files below g.Dir, by path. With write, git
// stores them. A file that git cannot read is missing in the result, for example if a required
// filter fails.
func (g Git) HashFiles(ctx context.Context, paths []string, write bool) (map[string]plumbing.Hash, error) {
	g.Settings = append(g.Settings[:len(g.Settings):len(g.Settings)], "core.safecrlf=false")
	args := []string{"hash-object", "--stdin-paths"}
	if write {
		args = append(args, "-w")
	}
	hashes := make(map[string]plumbing.Hash, len(paths))
	for len(paths) > 0 {
		var lines bytes.Buffer
		for _, path := range paths {
			lines.WriteString(`"` + quoted.Replace(path) + "\"\n")
		}
		out, err := g.Pipe(ctx, lines.Bytes(), args...)
		if err != nil && (ctx.Err() != nil || Code(err) != fatal) {
			return nil, err
		}
		done := strings.Fields(string(out))
		for i, hash := range done {
			hashes[paths[i]] = plumbing.NewHash(hash)
		}
		paths = paths[min(len(done)+1, len(paths)):] // git has stopped at the next file
	}
	return hashes, nil
}

// fatal is the exit status of git after an error.
const fatal = 128

// quoted quotes a path for git hash-object, which reads a path in a line.
var quoted = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "\r", `\r`)
