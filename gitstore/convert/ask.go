// Package convert tells what git makes of the files of a worktree.
//
// By gitattributes(5), git stores something else than what stands there for the
// attributes filter, ident and working-tree-encoding, and takes carriage returns
// away for text, eol, crlf and core.autocrlf. What has none of these is hashed
// here, which saves a process; git is asked about all the rest. It errs to one
// side: a file that is not known is left to git.
package convert

import (
	"bytes"
	"context"
	"strings"

	"git-checkpoint/gitstore/gitcmd"

	"github.com/go-git/go-git/v5/plumbing"
)

// Ask has git tell, or with the flag -w store, the blobs of files, whose paths
// are relative to its directory. The zero hash stands for one that cannot be
// read. There are as many hashes as files, also beside an error.
func Ask(ctx context.Context, g gitcmd.Git, files []string, flags ...string) ([]plumbing.Hash, error) {
	hashes, err := askAll(ctx, g, files, flags)
	if err != nil {
		return hashes, err
	}
	for i := range files {
		if hashes[i].IsZero() {
			hashes[i] = askOne(ctx, g, files[i], flags)
		}
	}
	return hashes, ctx.Err()
}

func askOne(ctx context.Context, g gitcmd.Git, file string, flags []string) plumbing.Hash {
	line, err := g.Line(ctx, append(append([]string{"hash-object"}, flags...), "--", file)...)
	if err != nil {
		return plumbing.ZeroHash
	}
	return plumbing.NewHash(line)
}

// askAll asks for files in one go, all but those whose names have a line break
// or could be taken for quoted ones.
func askAll(ctx context.Context, g gitcmd.Git, files, flags []string) ([]plumbing.Hash, error) {
	hashes := make([]plumbing.Hash, len(files))
	var in bytes.Buffer
	var asked []int
	for i, file := range files {
		if !strings.ContainsAny(file, "\n\r\"") {
			in.WriteString(file + "\n")
			asked = append(asked, i)
		}
	}
	if len(asked) == 0 {
		return hashes, nil
	}
	out, err := g.Pipe(ctx, in.Bytes(), append([]string{"hash-object", "--stdin-paths"}, flags...)...)
	lines := strings.Fields(string(out))
	if err != nil || len(lines) != len(asked) {
		return hashes, ctx.Err() // one vanished: each is asked for alone
	}
	for n, i := range asked {
		hashes[i] = plumbing.NewHash(lines[n])
	}
	return hashes, nil
}
