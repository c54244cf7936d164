package gitstore

import (
	"strings"
	"testing"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/internal/chain"
	"git-checkpoint/gitstore/internal/refs"
	"git-checkpoint/gitstore/internal/repo"
	"git-checkpoint/gitstore/internal/trees"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Verify reports what git fsck accepts and the stored form does not have. Each row changes the tree
// or the commit of the newest of two checkpoints, and states its content anew.
func TestVerifyOfTheForm(t *testing.T) {
	t.Parallel()
	const ledgerLine = "set deleted x-1 *\n"
	add := func(mode uint32, name, content string) func(*repo.ObjectWriter, *[]trees.Entry, *repo.RawCommit) {
		return func(k *repo.ObjectWriter, entries *[]trees.Entry, _ *repo.RawCommit) {
			*entries = append(*entries, trees.Entry{Mode: mode, Name: name, Hash: k.Add(plumbing.BlobObject, []byte(content))})
		}
	}
	mode := func(name string, mode uint32) func(*repo.ObjectWriter, *[]trees.Entry, *repo.RawCommit) {
		return func(_ *repo.ObjectWriter, entries *[]trees.Entry, _ *repo.RawCommit) {
			for n := range *entries {
				if (*entries)[n].Name == name {
					(*entries)[n].Mode = mode
				}
			}
		}
	}
	replace := func(old, new string) func(*repo.ObjectWriter, *[]trees.Entry, *repo.RawCommit) {
		return func(_ *repo.ObjectWriter, _ *[]trees.Entry, c *repo.RawCommit) {
			c.Message, c.Rest = strings.Replace(c.Message, old, new, 1), []byte(strings.Replace(string(c.Rest), old, new, 1))
		}
	}
	for name, c := range map[string]struct {
		change func(*repo.ObjectWriter, *[]trees.Entry, *repo.RawCommit)
		want   string // "" for no error
	}{
		"nothing":           {replace("", ""), ""},
		"a ledger":          {add(trees.ModeFile, "ledger", ledgerLine), ""},
		"two records":       {add(trees.ModeFile, "checkpoint.yaml", "note: other\n"), `"checkpoint.yaml" occurs twice`},
		"a linked record":   {mode("checkpoint.yaml", trees.ModeSymlink), "checkpoint.yaml has the mode 120000"},
		"a program":         {mode("checkpoint.yaml", trees.ModeExec), "checkpoint.yaml has the mode 100755"},
		"a linked ledger":   {add(trees.ModeSymlink, "ledger", ledgerLine), "ledger has the mode 120000"},
		"an old ledger":     {add(trees.ModeFile, "ledger", "deleted x-1\n"), "ledger: line 1: "},
		"an empty ledger":   {add(trees.ModeFile, "ledger", ""), "an empty ledger"},
		"a blob for a tree": {add(trees.ModeFile, "signature", "x"), "signature has the mode 100644"},
		"two authors":       {replace("author ", "author A <a> 1 +0000\nauthor "), `it has 2 lines "author"`},
		"no committer":      {replace("committer ", "x-committer "), `it has 0 lines "committer"`},
		"a NUL":             {replace("checkpoint 42", "checkpoint\x0042"), "a message with NUL"},
		"another scope":     {replace("Scope: whole", "Scope: cut"), `snapshot.scope is "whole" in the record and "cut" in the commit`},
		"files left out":    {replace("Checkpoint-Scope: whole\n", "Checkpoint-Scope: whole\nCheckpoint-Left-Out: 2\n"), `snapshot.skipped is "0" in the record and "2" in the commit`},
		"an unknown one":    {replace("Checkpoint-Scope: whole\n", "Checkpoint-Scope: whole\nCheckpoint-Future: x\n"), ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.manual(2)
			read := mustRead(t, w)
			commit := read.Commits[0].Raw
			r, err := w.s.Record(&read.Commits[0].Checkpoint)
			require.NoError(t, err)
			entries, err := trees.Read(w.s.repo.Objects, commit.Tree)
			require.NoError(t, err)
			k := w.s.repo.NewObjectWriter()
			after, _ := read.Commits[0].CameAfter()
			commit.Message = chain.EncodeMessage("42", r, after)
			c.change(k, &entries, &commit)
			commit.Tree = k.AddTree(entries)
			tip := k.AddCommit(chain.Seal(commit, entries))
			require.NoError(t, k.Flush(ctx))
			require.NoError(t, w.s.repo.MoveRefs(ctx, "test", refs.Move{Name: LiveRef("42"), Old: read.Tip, New: tip}, refs.Move{Name: repo.OwnRef("42"), Old: read.Tip, New: tip}))
			report, err := w.s.Verify(ctx, "42")
			require.NoError(t, err)
			if c.want == "" {
				assert.Empty(t, report.Errors)
				return
			}
			assert.Contains(t, strings.Join(report.Errors, "\n"), c.want)
			assert.NotContains(t, strings.Join(report.Errors, "\n"), "Checkpoint-Content")
		})
	}
}

// The content does not depend on the first parent, the committer, the ledger and a signature.
func TestContentCoversWhatACheckpointSays(t *testing.T) {
	t.Parallel()
	hash := func(digit string) plumbing.Hash {
		return plumbing.NewHash(strings.Repeat(digit, 2*len(plumbing.ZeroHash)))
	}
	r := checkpoint.New()
	r.SetTrigger(checkpoint.Manual)
	of := func(change func(c *repo.RawCommit, entries *[]trees.Entry)) string {
		c := repo.RawCommit{
			Parents: []plumbing.Hash{hash("1"), hash("2")}, Rest: []byte("author A <a@b> 1 +0000\ncommitter A <a@b> 2 +0000\n"),
			Message: chain.EncodeMessage("42", r, nil),
		}
		entries := []trees.Entry{{Mode: trees.ModeFile, Name: "checkpoint.yaml", Hash: hash("3")}, {Mode: trees.ModeTree, Name: "state", Hash: hash("4")}}
		if change != nil {
			change(&c, &entries)
		}
		return chain.ContentOf(entries, c)
	}
	want := of(nil)
	for name, change := range map[string]func(c *repo.RawCommit, entries *[]trees.Entry){
		"first parent": func(c *repo.RawCommit, _ *[]trees.Entry) { c.Parents[0] = hash("9") },
		"committer": func(c *repo.RawCommit, _ *[]trees.Entry) {
			c.Rest = []byte("author A <a@b> 1 +0000\ncommitter B <b> 3 +0000\ngpgsig x\n")
		},
		"ledger": func(_ *repo.RawCommit, e *[]trees.Entry) {
			*e = append(*e, trees.Entry{Mode: trees.ModeFile, Name: "ledger"})
		},
		"signature": func(_ *repo.RawCommit, e *[]trees.Entry) {
			*e = append(*e, trees.Entry{Mode: trees.ModeTree, Name: "signature"})
		},
		"sealed": func(c *repo.RawCommit, e *[]trees.Entry) { *c = chain.Seal(*c, *e) },
	} {
		assert.Equal(t, want, of(change), name)
	}
	for name, change := range map[string]func(c *repo.RawCommit, entries *[]trees.Entry){
		"second parent": func(c *repo.RawCommit, _ *[]trees.Entry) { c.Parents[1] = hash("9") },
		"no parent":     func(c *repo.RawCommit, _ *[]trees.Entry) { c.Parents = c.Parents[:1] },
		"author": func(c *repo.RawCommit, _ *[]trees.Entry) {
			c.Rest = []byte("author A <a@b> 2 +0000\ncommitter A <a@b> 2 +0000\n")
		},
		"message": func(c *repo.RawCommit, _ *[]trees.Entry) { c.Message += "X-Other: x\n" },
		"mode":    func(_ *repo.RawCommit, e *[]trees.Entry) { (*e)[0].Mode = trees.ModeExec },
		"name":    func(_ *repo.RawCommit, e *[]trees.Entry) { (*e)[1].Name = "staged" },
		"object":  func(_ *repo.RawCommit, e *[]trees.Entry) { (*e)[1].Hash = hash("9") },
		"entry": func(_ *repo.RawCommit, e *[]trees.Entry) {
			*e = append(*e, trees.Entry{Mode: trees.ModeFile, Name: "x-a"})
		},
	} {
		assert.NotEqual(t, want, of(change), name)
	}
}
