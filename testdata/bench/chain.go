package main

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
)

// A chainSpec describes a generated chain.
type chainSpec struct {
	issue  string
	length int
}

// chains writes the chains of a repository.
func (r *repo) chains(ctx context.Context, k kind) error {
	var specs []chainSpec
	if k == kindSave {
		r.short, r.long = "1001", "1003"
		specs = []chainSpec{{r.short, r.b.lengths.short}, {r.long, r.b.lengths.long}}
	}
	for i := range r.b.issuesOf(k) {
		r.many = append(r.many, strconv.Itoa(5001+i))
		specs = append(specs, chainSpec{r.many[i], 1})
	}
	return r.importChains(ctx, specs)
}

// importChains writes chains with git fast-import. Each checkpoint is a copy of a real
// checkpoint with another id and time. Chains therefore always have the program's current
// format, and `verify` accepts them.
func (r *repo) importChains(ctx context.Context, specs []chainSpec) error {
	t, err := r.template(ctx)
	if err != nil {
		return err
	}
	err = r.fastImport(ctx, func(w io.Writer) error {
		mark := 0
		for _, spec := range specs {
			mark = t.write(w, spec, mark)
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, ref := range []string{scratchRef, "refs/checkpoints/" + templateIssue, "refs/git-checkpoint/own/" + templateIssue} {
		if _, err := r.git(ctx, "update-ref", "-d", ref); err != nil {
			return err
		}
	}
	return nil
}

// Unique words in the template.
const (
	templateIssue   = "70707070"
	templateTrigger = "bench_trigger"
	templatePhase   = "bench_phase"
	scratchRef      = "refs/bench/scratch"
)

// A template is a parsed checkpoint.
type template struct {
	id, clock, created string // text as in the record
	record, message    string
	stateMessage       string
	indexMessage       string
	head, tree         string // HEAD and its tree
}

// template creates a checkpoint without staged changes.
func (r *repo) template(ctx context.Context) (*template, error) {
	ref := "refs/checkpoints/" + templateIssue
	id, err := r.b.do(ctx, r.dir, strings.NewReader(state), r.b.binary, "save", templateIssue,
		"--trigger", templateTrigger, "--phase", templatePhase, "-m", "stop between two batches", "--state", "-")
	if err != nil {
		return nil, err
	}
	t := &template{id: strings.TrimSpace(id)}
	for _, read := range []struct {
		into *string
		args []string
	}{
		{&t.record, []string{"show", ref + ":checkpoint.yaml"}},
		{&t.message, []string{"log", "-1", "--format=%B", ref}},
		{&t.stateMessage, []string{"log", "-1", "--format=%B", ref + "^2"}},
		{&t.indexMessage, []string{"log", "-1", "--format=%B", ref + "^2^2"}},
		{&t.head, []string{"rev-parse", ref + "^2^"}},
		{&t.tree, []string{"rev-parse", ref + "^2^{tree}"}},
	} {
		if *read.into, err = r.git(ctx, read.args...); err != nil {
			return nil, err
		}
		*read.into = strings.TrimRight(*read.into, "\n")
	}
	t.clock, t.created = field(t.record, "clock: "), strings.Trim(field(t.record, "created_at: "), `"`)
	if t.clock == "" || t.created == "" {
		return nil, errors.New("the template's record has no clock or no time")
	}
	return t, nil
}

// field returns the value of a top-level line of the record.
func field(record, key string) string {
	for line := range strings.Lines(record) {
		if value, ok := strings.CutPrefix(line, key); ok {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

// write writes a chain from genesis to tip and returns the last mark used.
func (t *template) write(w io.Writer, spec chainSpec, mark int) int {
	ref := "refs/checkpoints/" + spec.issue
	mark++
	fmt.Fprintf(w, "reset %s\ncommit %s\nmark :%d\n", ref, ref, mark)
	fmt.Fprintf(w, "committer git-checkpoint <git-checkpoint@localhost> 1767225600 +0000\n")
	writeData(w, "checkpoints of issue "+spec.issue+"\n")
	for i := range spec.length {
		t.writeOne(w, spec, i, mark)
		mark += 3
	}
	fmt.Fprintf(w, "reset refs/git-checkpoint/own/%s\nfrom :%d\n\n", spec.issue, mark)
	return mark
}

// writeOne writes checkpoint i on top of mark: its index commit is mark+1, its state commit
// mark+2, its own commit mark+3.
func (t *template) writeOne(w io.Writer, spec chainSpec, i, mark int) {
	at := time.Unix(firstTime+int64(i)*60, 0).UTC()
	names := t.names(spec, i, at)
	by := fmt.Sprintf("%s %d +0000", ident, at.Unix())
	index, state, record := names.Replace(t.indexMessage)+"\n", names.Replace(t.stateMessage)+"\n", names.Replace(t.record)+"\n"
	fmt.Fprintf(w, "reset %s\ncommit %s\nmark :%d\ncommitter %s\n", scratchRef, scratchRef, mark+1, by)
	writeData(w, index)
	fmt.Fprintf(w, "from %s\nM 040000 %s \"\"\n\n", t.head, t.tree)
	fmt.Fprintf(w, "reset %s\ncommit %s\nmark :%d\ncommitter %s\n", scratchRef, scratchRef, mark+2, by)
	writeData(w, state)
	fmt.Fprintf(w, "from %s\nmerge :%d\nM 040000 %s \"\"\n\n", t.head, mark+1, t.tree)
	stateID := t.commit(by, state, t.head, t.commit(by, index, t.head))
	fmt.Fprintf(w, "commit refs/checkpoints/%s\nmark :%d\ncommitter %s\n", spec.issue, mark+3, by)
	writeData(w, t.sealed(names.Replace(t.message)+"\n", record, stateID, by))
	fmt.Fprintf(w, "from :%d\nmerge :%d\nM 040000 %s staged\nM 040000 %s state\nM 100644 inline checkpoint.yaml\n", mark, mark+2, t.tree, t.tree)
	writeData(w, record)
}

// commit returns the id of a commit with the template's tree.
func (t *template) commit(by, message string, parents ...string) string {
	var text strings.Builder
	fmt.Fprintf(&text, "tree %s\n", t.tree)
	for _, p := range parents {
		fmt.Fprintf(&text, "parent %s\n", p)
	}
	fmt.Fprintf(&text, "author %s\ncommitter %s\n\n%s", by, by, message)
	return plumbing.ComputeHash(plumbing.CommitObject, []byte(text.String())).String()
}

// sealed returns the message with the content of the checkpoint, by the guide format.
func (t *template) sealed(message, record, stateID, by string) string {
	const trailer = "Checkpoint-Content: "
	before, rest, _ := strings.Cut(message, trailer)
	_, after, _ := strings.Cut(rest, "\n")
	digest := sha256.New()
	for _, field := range []string{
		"100644", "checkpoint.yaml", plumbing.ComputeHash(plumbing.BlobObject, []byte(record)).String(),
		"40000", "staged", t.tree, "40000", "state", t.tree, stateID, by, before + after,
	} {
		digest.Write(binary.BigEndian.AppendUint64(nil, uint64(len(field))))
		digest.Write([]byte(field))
	}
	return fmt.Sprintf("%s%s%x\n%s", before, trailer, digest.Sum(nil), after)
}

// names returns a replacer of template words for checkpoint i.
func (t *template) names(spec chainSpec, i int, at time.Time) *strings.Replacer {
	digest := sha256.Sum256(fmt.Appendf(nil, "%s/%d", spec.issue, i))
	id := fmt.Sprintf("CP-implementing-%s-%x", at.Format("20060102T150405Z"), digest[:4])
	return strings.NewReplacer(
		t.id, id,
		t.created, at.Format("2006-01-02T15:04:05.000000Z"),
		t.clock, strconv.FormatInt(at.UnixNano(), 10),
		templateIssue, spec.issue, templateTrigger, "manual", templatePhase, "implementing",
	)
}

// state is a half-completed workflow: record fields besides mandatory fields.
const state = `workflow_state:
  current_state_label: state:implementing
  phase_started_at: "2026-01-02T00:00:00.000000Z"
  phase_attempt: 1
issue_snapshot:
  title: "Sessions: end them on every device"
  body: |
    A person who signs out expects to be signed out everywhere.

    - [ ] on the web
    - [x] on the phone
    - [ ] in the programs that hold a token
  labels: [domain:accounts, state:implementing, type:feature]
  assignees: [mara]
execution_graph:
  graph_id: GRAPH-20260214-77aa
  completed_batches: [1, 2]
  current_batch: 3
  node_states:
    task-001: {status: complete, started_at: "2026-01-02T00:10:00.000000Z", completed_at: "2026-01-02T00:40:00.000000Z"}
    task-002: {status: complete, started_at: "2026-01-02T00:41:00.000000Z", completed_at: "2026-01-02T00:52:00.000000Z"}
    task-003: {status: running, started_at: "2026-01-02T00:53:00.000000Z"}
agent_outputs:
  planner:
    write_plan: {completed_at: "2026-01-02T00:09:00.000000Z", output_summary: "Three batches: the store, the calls, the tests"}
  coder:
    write_store: {completed_at: "2026-01-02T00:40:00.000000Z", output_summary: "Sessions have a generation; ending all raises it"}
    write_calls: {completed_at: "2026-01-02T00:52:00.000000Z", output_summary: "DELETE /sessions ends every session of a person"}
acp_state:
  pending_messages: [MSG-1771063800000-0a1b2c3d]
  awaiting_response: []
  conflicts_in_progress: []
`
