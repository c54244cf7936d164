package gitstore

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"git-checkpoint/gitstore/scan"
)

const (
	maxScanned = 4 << 20  // of one file: larger ones are not looked at
	maxBatch   = 16 << 20 // read at once
)

// A Secret is what looks like one in a file of a chain. It never holds the
// secret itself.
type Secret struct {
	Path string // in the checkpoint's tree
	Rule string
	Line int
}

// Secrets looks for secrets in the files that a push would show for the first
// time.
func (s *Store) Secrets(ctx context.Context, out Outgoing) ([]Secret, error) {
	listed, err := s.revs(ctx, slices.Concat(out.tips, out.without), "--objects")
	if err != nil {
		return nil, err
	}
	paths := map[string]string{}
	var names []string
	for line := range strings.Lines(listed) {
		if hex, path, named := strings.Cut(strings.TrimSuffix(line, "\n"), " "); named && path != "" {
			paths[hex] = path
			names = append(names, hex)
		}
	}
	batches, err := s.blobBatches(ctx, names)
	if err != nil {
		return nil, err
	}
	var found []Secret
	for _, batch := range batches {
		more, err := s.scanBatch(ctx, batch, paths)
		if err != nil {
			return nil, err
		}
		found = append(found, more...)
	}
	return found, nil
}

// blobBatches picks the files among objects that are not too large, in batches
// that are not.
func (s *Store) blobBatches(ctx context.Context, names []string) ([][]string, error) {
	if len(names) == 0 {
		return nil, nil
	}
	out, err := s.git.Pipe(ctx, []byte(strings.Join(names, "\n")+"\n"), "cat-file", "--batch-check=%(objectname) %(objecttype) %(objectsize)")
	if err != nil {
		return nil, err
	}
	var batches [][]string
	room := 0
	for line := range strings.Lines(string(out)) {
		words := strings.Fields(line)
		if len(words) != 3 || words[1] != "blob" {
			continue
		}
		size, err := strconv.Atoi(words[2])
		if err != nil || size > maxScanned {
			continue
		}
		if room -= size; room < 0 || len(batches) == 0 {
			batches, room = append(batches, nil), maxBatch-size
		}
		last := len(batches) - 1
		batches[last] = append(batches[last], words[0])
	}
	return batches, nil
}

// scanBatch reads files as `git cat-file --batch` gives them: a line with
// name, type and size, the content, a newline.
func (s *Store) scanBatch(ctx context.Context, names []string, paths map[string]string) ([]Secret, error) {
	out, err := s.git.Pipe(ctx, []byte(strings.Join(names, "\n")+"\n"), "cat-file", "--batch")
	if err != nil {
		return nil, err
	}
	var found []Secret
	for len(out) > 0 {
		head, rest, _ := bytes.Cut(out, []byte{'\n'})
		words := strings.Fields(string(head))
		if len(words) != 3 {
			return nil, fmt.Errorf("git cat-file: %q", head)
		}
		size, err := strconv.Atoi(words[2])
		if err != nil || size >= len(rest) {
			return nil, fmt.Errorf("git cat-file: %q", head)
		}
		path := paths[words[0]]
		for _, f := range scan.Text(path, rest[:size]) {
			found = append(found, Secret{Path: path, Rule: f.Rule, Line: f.Line})
		}
		out = rest[size+1:]
	}
	return found, nil
}
