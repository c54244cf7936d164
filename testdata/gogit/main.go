// gogit prints the checkpoints of an issue with go-git, which reads them through the store:
//
//	go run ./testdata/gogit 42
package main

import (
	"context"
	"fmt"
	"log"
	"os"
	"strings"

	"git-checkpoint/gitstore"
	"git-checkpoint/gitstore/checkpoint"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/object"
)

func main() {
	ctx := context.Background()
	store, err := gitstore.Open(ctx, gitstore.Options{})
	check(err)
	defer store.Close()
	objects := store.Storer(ctx)
	tip, err := objects.Reference(plumbing.ReferenceName(gitstore.LiveRef(checkpoint.Issue(os.Args[1]))))
	check(err)
	for commit, err := object.GetCommit(objects, tip.Hash()); ; commit, err = commit.Parent(0) {
		check(err)
		title, _, _ := strings.Cut(commit.Message, "\n")
		if _, err := commit.File("checkpoint.yaml"); err != nil {
			return // the commit of the branch at the first save
		}
		fmt.Println(commit.Hash.String()[:12], commit.Author.When.Format("2006-01-02 15:04"), title)
	}
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
