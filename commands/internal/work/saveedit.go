package work

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"git-checkpoint/commands/internal/invoke"
	"git-checkpoint/freshness"
	"git-checkpoint/gitstore"
	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/failure"
	"git-checkpoint/gitstore/layout"
	"git-checkpoint/gitstore/layout/crunch"
)

// An SaveInput has the parameters of a save that are not flags.
type SaveInput struct {
	Doc       *layout.File                   // document of save --as, or nil
	Named     bool                           // the command line names the trigger
	Begin     func(*checkpoint.Record) error // step before the flags apply, or nil
	Move      func(*checkpoint.Record) error // step after the flags apply, or nil
	Artifacts []string                       // additional files to capture as artifacts
	Run       *checkpoint.Map                // command of run and its end, or nil
}

// DocumentEdit returns the edit of a save that has a document and no flags. named
// reports whether the trigger does not come from the document.
func DocumentEdit(c *invoke.Invocation, doc *layout.File, trigger checkpoint.Trigger, named bool) func(*checkpoint.Record) (*checkpoint.Record, error) {
	e := &edit{
		command: c.Line.Name, doc: doc, trigger: trigger, named: named, session: c.Store.Session(newSession),
		now: c.Env.Now(), store: c.Store, rules: VerdictRules(c, JudgeOptions{}), ctx: c.Ctx,
	}
	return e.apply
}

// An edit holds the changes that a command line makes to the previous record. It is read
// once and applied each time the store retries.
type edit struct {
	SaveOptions
	command string       // name of the command, for messages
	doc     *layout.File // document of save --as, or nil
	state   *checkpoint.Map
	begin   func(*checkpoint.Record) error // step before the flags apply, or nil
	move    func(*checkpoint.Record) error // step after the flags apply, or nil
	sets    []assignment
	trigger checkpoint.Trigger
	named   bool            // the command line names the trigger
	run     *checkpoint.Map // command of run and its end, or nil
	session string          // session of the command line, the environment or the worktree
	turn    *invoke.Turn    // of the agent whose hook saves, or nil
	noTexts bool            // no text of a conversation is stored
	issue   *freshness.SourceIssue
	seen    time.Time // time at which issue was read; zero means now
	rules   freshness.Rules
	now     time.Time
	store   *gitstore.Store
	ctx     context.Context

	dropsInvalid bool     // leave out invalid values with a warning
	leftOut      []string // warnings about them
	warn         func(format string, args ...any)
}

type assignment struct {
	path  string
	value any
}

// editor reads the files that change the record, and returns a function that derives the
// new record from the previous record.
func editor(c *invoke.Invocation, issue checkpoint.Issue, trigger checkpoint.Trigger, o *SaveOptions, in SaveInput) (func(*checkpoint.Record) (*checkpoint.Record, error), error) {
	if err := o.check(c); err != nil {
		return nil, err
	}
	e := &edit{
		SaveOptions: *o, command: c.Line.Name, trigger: trigger, named: in.Named, session: cmp.Or(o.Session, c.Env.Getenv("GIT_CHECKPOINT_SESSION")),
		now: c.Env.Now(), store: c.Store, rules: VerdictRules(c, JudgeOptions{Strict: o.Strict}), ctx: c.Ctx, doc: in.Doc, begin: in.Begin, move: in.Move, run: in.Run,
		dropsInvalid: dropsInvalid(trigger, in), warn: c.WarnAlways, turn: c.Env.Turn, noTexts: !c.Settings.Bool("hooks.requests"),
	}
	if e.session == "" && !o.DryRun {
		e.session = c.Store.Session(newSession)
	}
	var err error
	if e.state, err = e.readState(c, o.State); err != nil {
		return nil, err
	}
	if e.sets, err = parseSets(c.Line.Name, o.Sets); err != nil {
		return nil, err
	}
	if e.issue, e.seen, err = IssueToSave(c, issue, trigger, o.Issue); err != nil {
		return nil, err
	}
	return e.apply, nil
}

func (e *edit) readState(c *invoke.Invocation, name string) (*checkpoint.Map, error) {
	if name == "" {
		return nil, nil
	}
	data, err := c.ReadInput(name)
	if err != nil {
		return nil, failure.Usagef("%s: --state: %w", c.Line.Name, err)
	}
	r, err := checkpoint.Decode(data)
	if errors.As(err, new(*checkpoint.SyntaxError)) && e.dropsInvalid {
		if m, syntaxErr := checkpoint.DecodeDocument(data, checkpoint.DefaultLimits); syntaxErr == nil {
			r = checkpoint.FromDoc(m)
			err = e.checkKinds(r)
		}
	}
	var newer *checkpoint.VersionError
	if errors.As(err, &newer) { // a document without a checkpoint id is no record, so its version is another one
		if m, syntaxErr := checkpoint.DecodeDocument(data, checkpoint.DefaultLimits); syntaxErr == nil && m.Text("checkpoint_id") == "" {
			r = checkpoint.FromDoc(m)
			err = r.Check()
		}
	}
	switch {
	case errors.As(err, &newer):
		return nil, fmt.Errorf("%s: --state: %s: %w", c.Line.Name, name, err)
	case err != nil:
		return nil, failure.Usagef("%s: --state: %s: %w", c.Line.Name, name, err)
	}
	dropOwnKeys(c, r.Doc())
	return r.Doc(), nil
}

// dropOwnKeys removes the keys of a --state document that every save sets itself. It warns about
// them, unless the document is a record of this program, such as the output of show.
func dropOwnKeys(c *invoke.Invocation, m *checkpoint.Map) {
	var dropped []string
	isMissing := func(key string) bool {
		v, _ := m.Get(key)
		return v == nil
	}
	record := !slices.ContainsFunc([]string{"checkpoint_id", "created_at", "issue_number"}, isMissing)
	for _, key := range ownKeys {
		if _, ok := m.Get(key); ok {
			m.Delete(key)
			dropped = append(dropped, key)
		}
	}
	if len(dropped) == 0 || record {
		return
	}
	keys, it := "this key", "it"
	if len(dropped) > 1 {
		keys, it = "these keys", "them"
	}
	c.Warnf("--state: not recorded, because the record has %s itself: %s; put %s below another key", keys, strings.Join(dropped, ", "), it)
}

// ownKeys are the record keys that every save sets itself.
var ownKeys = []string{"version", "checkpoint_id", "created_at", "issue_number", "files_modified", "clock", "snapshot"}

func parseSets(command string, list []string) ([]assignment, error) {
	var sets []assignment
	for _, s := range list {
		path, value, ok := strings.Cut(s, "=")
		switch {
		case !ok || path == "":
			return nil, failure.Usagef("%s: --set: %q: want PATH=VALUE", command, s)
		case !utf8.ValidString(s):
			return nil, failure.Usagef("%s: --set: %q: not valid UTF-8", command, s)
		case slices.Contains(ownKeys, firstKey(path)):
			return nil, failure.Usagef("%s: --set: %q: save sets %s itself", command, s, firstKey(path))
		}
		sets = append(sets, assignment{path, checkpoint.ParseValue(value)})
	}
	return sets, nil
}

func firstKey(path string) string {
	if i := strings.IndexAny(path, ".["); i >= 0 {
		path = path[:i]
	}
	return strings.Trim(path, `"`)
}

// applyDocument merges the --as document into the record. A crunch document replaces the
// record. The other layouts keep the previous record's fields about the issue.
func (e *edit) applyDocument(r *checkpoint.Record) (*checkpoint.Record, error) {
	if e.doc == nil {
		crunch.Forget(r)
		return r, nil
	}
	if err := e.doc.Against(r); err != nil {
		return nil, err
	}
	r = e.doc.Apply(r)
	if e.named {
		r.SetTrigger(e.trigger)
	}
	return r, nil
}

// whole reports whether the document is a complete record, which decides the resume point
// itself.
func (e *edit) whole() bool { return e.doc != nil && e.doc.Whole() }
