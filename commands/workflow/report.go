package workflow

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"git-checkpoint/commands/internal/invoke"
	"git-checkpoint/commands/internal/schema"
	"git-checkpoint/commands/internal/view"
	"git-checkpoint/commands/internal/work"
	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/checkpoint/progress"
	"git-checkpoint/gitstore/failure"
)

// Limits of a summary in words. Summaries are read often, so they have to be short.
const (
	wordsAsked   = 50
	wordsAllowed = 200
)

// phaseReport returns the results of a phase from the command line, and its output as
// an additional artifact. The output file must exist and be valid before the phase
// moves.
func phaseReport(c *invoke.Invocation, o *phaseOptions) (progress.Report, []string, error) {
	report := progress.Report{Summary: o.summary}
	switch n := len(strings.Fields(report.Summary)); {
	case n > wordsAllowed:
		return report, nil, failure.Usagef("phase: --summary: %d words, want at most %d", n, wordsAllowed)
	case n > wordsAsked:
		c.Warnf("the summary has %d words, want at most %d", n, wordsAsked)
	}
	if c.Store.Root() == "" {
		return report, nil, nil // no worktree: the save returns an error
	}
	places, err := work.ArtifactPaths(c, o.Artifacts)
	if err != nil {
		return report, nil, err
	}
	output, err := phaseOutput(c, o)
	if err != nil {
		return report, nil, err
	}
	digests, err := c.Store.Files.Digests(c.Ctx, append(places[:len(places):len(places)], output))
	if err != nil {
		return report, nil, err
	}
	for _, place := range places {
		report.Artifacts = append(report.Artifacts, artifact(c, place, digests[place]))
	}
	if output != "" {
		report.Output = artifact(c, output, digests[output])
		return report, []string{output}, nil
	}
	return report, nil, nil
}

// artifact describes a file of the worktree. The title is the first heading of a Markdown file, if it
// is within the first 4 KiB.
func artifact(c *invoke.Invocation, place, digest string) progress.Artifact {
	data, size, err := invoke.ReadPlain(c.Store.Root(), place, 4<<10)
	a := progress.Artifact{Path: place, Digest: digest, Size: size}
	if err != nil || !strings.HasSuffix(place, ".md") {
		return a
	}
	for line := range strings.Lines(string(data)) {
		if text, ok := strings.CutPrefix(line, "# "); ok {
			a.Title = strings.ToValidUTF8(strings.TrimSpace(text), "\ufffd")
			break
		}
	}
	return a
}

// phaseOutput returns the path of --output, or "". It fails if the file is missing or
// violates its schema.
func phaseOutput(c *invoke.Invocation, o *phaseOptions) (string, error) {
	name := o.output
	if name == "" {
		if o.schema != "" {
			return "", failure.Usagef("phase done: --schema is for --output")
		}
		return "", nil
	}
	place, err := c.RootPath(name)
	if err != nil {
		return "", failure.Usagef("phase done: --output: %w", err)
	}
	if err := outputExists(c, "phase done", place); err != nil {
		return "", err
	}
	data, err := readOutput(c, place)
	if err != nil {
		return "", failure.Errorf(failure.Invalid, failure.Correct(name), "phase done: --output: %w", err)
	}
	return place, checkOutput(c, o, place, data)
}

// outputExists fails if the file of --output does not exist.
func outputExists(c *invoke.Invocation, command, place string) error {
	_, err := os.Stat(filepath.Join(c.Store.Root(), filepath.FromSlash(place)))
	if errors.Is(err, fs.ErrNotExist) {
		return failure.Usagef("%s: --output: %s does not exist", command, view.QuotePath(place))
	}
	return nil
}

// readOutput reads a file of the worktree and fails if the file is empty.
func readOutput(c *invoke.Invocation, place string) ([]byte, error) {
	limit := int64(checkpoint.DefaultLimits.Bytes)
	data, size, err := invoke.ReadPlain(c.Store.Root(), place, limit)
	switch {
	case err != nil:
		return nil, err
	case len(data) == 0:
		return nil, fmt.Errorf("%s is empty", view.QuotePath(place))
	case size > limit:
		return nil, fmt.Errorf("%s: more than the limit of %d bytes", view.QuotePath(place), limit)
	}
	return data, nil
}

// checkOutput validates an output o.schema a schema. A .json file has to be valid JSON,
// also without a schema.
func checkOutput(c *invoke.Invocation, o *phaseOptions, place string, data []byte) error {
	if o.schema == "" && !strings.HasSuffix(place, ".json") {
		return nil
	}
	s := new(schema.Schema)
	if o.schema != "" {
		text, err := c.ReadInput(o.schema)
		if err == nil {
			s, err = schema.Parse(text)
		}
		if err != nil {
			return failure.Usagef("phase done: --schema: %s: %w", o.schema, err)
		}
	}
	problems, err := s.Check(data)
	if err == nil && len(problems) == 0 {
		return nil
	}
	if err == nil {
		lines := view.Each(problems, func(p schema.Violation) string { return "  " + p.String() })
		err = errors.New(view.Plural(len(problems), "problem") + "\n" + strings.Join(lines, "\n"))
	}
	return failure.Errorf(failure.Invalid, failure.Correct(o.output), "phase done: --output: %s: %w", view.QuotePath(place), err)
}
