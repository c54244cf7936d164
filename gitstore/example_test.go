package gitstore_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"git-checkpoint/gitstore"
	"git-checkpoint/gitstore/checkpoint"
)

// repository creates a repository with a staged file.
func repository() string {
	dir, err := os.MkdirTemp("", "git-checkpoint-example-*")
	if err != nil {
		panic(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "plan.txt"), []byte("first draft\n"), 0o666); err != nil {
		panic(err)
	}
	for _, args := range [][]string{{"init", "-q", "-b", "main", "--object-format=" + gitstore.ObjectFormat}, {"add", "plan.txt"}} {
		cmd := exec.Command("git", args...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			panic(string(out))
		}
	}
	return dir
}

// This example saves a checkpoint, finds it, and restores its file.
func Example() {
	ctx, dir := context.Background(), repository()
	defer os.RemoveAll(dir)
	store, err := gitstore.Open(ctx, gitstore.Options{Dir: dir})
	if err != nil {
		panic(err)
	}
	defer store.Close()

	_, err = store.Save(ctx, gitstore.SaveRequest{
		Issue: "42",
		Edit: func(before *checkpoint.Record) (*checkpoint.Record, error) {
			r := before
			if r == nil {
				r = checkpoint.New()
			}
			r.SetTrigger(checkpoint.Manual)
			r.SetPhase("planning")
			r.SetNote("the first draft")
			return r, nil
		},
	})
	if err != nil {
		panic(err)
	}

	if err := os.Remove(filepath.Join(dir, "plan.txt")); err != nil {
		panic(err)
	}
	c, err := store.Find(ctx, "42", gitstore.Latest)
	if err != nil {
		panic(err)
	}
	r, err := store.VerifiedRecord(c)
	if err != nil {
		panic(err)
	}
	fmt.Println(c.Issue, r.Phase(), r.Note())
	restored, err := store.Restore(ctx, gitstore.RestoreRequest{Checkpoint: c})
	if err != nil {
		panic(err)
	}
	fmt.Println(restored.Restored)
	// Output:
	// 42 planning the first draft
	// [plan.txt]
}
