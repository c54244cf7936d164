package saving

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"git-checkpoint/commands/internal/exit"
	"git-checkpoint/commands/internal/invoke"
	"git-checkpoint/commands/internal/issuesource"
	"git-checkpoint/commands/internal/judge"
	"git-checkpoint/freshness"
	"git-checkpoint/gitstore"
	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/layout"
)

// An Input has the parameters of a save that are not flags.
type Input struct {
	Doc       *layout.File                   // document of save --as, or nil
	Begin     func(*checkpoint.Record) error // step before the flags apply, or nil
	Move      func(*checkpoint.Record) error // step after the flags apply, or nil
	Artifacts []string                       // additional files to capture as artifacts
	Content   bool                           // the flags --summary and --decision describe the checkpoint
}

// DocumentEdit returns the edit of a save that has a document and no flags. named
// reports whether the trigger does not come from the document.
func DocumentEdit(c *invoke.Invocation, doc *layout.File, trigger checkpoint.Trigger, named bool) func(*checkpoint.Record) (*checkpoint.Record, error) {
	e := &edit{
		doc: doc, trigger: trigger, named: named, session: c.Store.Session(newSession),
		now: c.Env.Now(), store: c.Store, rules: judge.Rules(c), ctx: c.Ctx,
	}
	return e.apply
}

// An edit holds the changes that a command line makes to the previous record. It is read
// once and applied each time the store retries.
type edit struct {
	replace    bool
	doc        *layout.File // document of save --as, or nil
	state      *checkpoint.Map
	begin      func(*checkpoint.Record) error // step before the flags apply, or nil
	move       func(*checkpoint.Record) error // step after the flags apply, or nil
	sets       []assignment
	trigger    checkpoint.Trigger
	named      bool // --trigger is set
	phase      string
	batch      int
	agent      string
	action     string
	conflict   string
	session    string
	given      bool // --session is set
	note       string
	resumeFrom string
	noResume   string
	summary    string   // summary of the context
	decisions  []string // appended to the decisions of the record
	issue      *freshness.SourceIssue
	seen       time.Time // time at which issue was read; zero means now
	noBody     bool      // record only a digest of the issue's body
	rules      freshness.Rules
	strict     bool
	now        time.Time
	store      *gitstore.Store
	ctx        context.Context
}

type assignment struct {
	path  string
	value any
}

// textFlags lists flags whose values are stored unchanged.
var textFlags = []string{"phase", "agent", "action", "conflict", "session", "message", "resume-from", "no-resume", "summary"}

// editor reads the flags and files that change the record, and returns a function that
// derives the new record from the previous record.
func editor(c *invoke.Invocation, issue checkpoint.Issue, trigger checkpoint.Trigger, in Input) (func(*checkpoint.Record) (*checkpoint.Record, error), error) {
	f := c.Flags
	e := &edit{
		replace: f.Bool("replace"), trigger: trigger, phase: f.String("phase"), batch: f.Int("batch"),
		agent: f.String("agent"), action: f.String("action"), conflict: f.String("conflict"),
		note: f.String("message"), resumeFrom: f.String("resume-from"), noResume: f.String("no-resume"),
		now: c.Env.Now(), store: c.Store, rules: judge.Rules(c), named: f.IsSet("trigger"), given: f.String("session") != "",
		strict: f.Bool("strict"), noBody: f.Bool("no-body"), ctx: c.Ctx, doc: in.Doc, begin: in.Begin, move: in.Move,
	}
	if in.Content {
		e.summary, e.decisions = f.String("summary"), c.Lists["decision"]
	}
	for _, name := range textFlags {
		if !utf8.ValidString(f.String(name)) {
			return nil, exit.Usagef("save: --%s: not valid UTF-8", name)
		}
	}
	for _, text := range e.decisions {
		if text == "" || !utf8.ValidString(text) {
			return nil, exit.Usagef("save: --decision: %q: want a text", text)
		}
	}
	if (e.agent == "") != (e.action == "") {
		return nil, exit.Usagef("save: --agent and --action go together")
	}
	if f.IsSet("batch") && e.batch < 1 {
		return nil, exit.Usagef("save: --batch: %d is no batch; they count from 1", e.batch)
	}
	if e.session = cmp.Or(f.String("session"), c.Env.Getenv("GIT_CHECKPOINT_SESSION")); e.session == "" && !f.Bool("dry-run") {
		e.session = c.Store.Session(newSession)
	}
	var err error
	if e.state, err = readState(c); err != nil {
		return nil, err
	}
	if e.sets, err = parseSets(c.Lists["set"]); err != nil {
		return nil, err
	}
	if e.issue, e.seen, err = issuesource.ToSave(c, issue, trigger); err != nil {
		return nil, err
	}
	return e.apply, nil
}

// readState reads and decodes the --state document.
func readState(c *invoke.Invocation) (*checkpoint.Map, error) {
	name := c.Flags.String("state")
	if name == "" {
		return nil, nil
	}
	data, err := c.ReadInput(name)
	if err != nil {
		return nil, exit.Usagef("save: --state: %w", err)
	}
	r, err := checkpoint.Decode(data)
	var newer *checkpoint.VersionError
	switch {
	case errors.As(err, &newer):
		return nil, fmt.Errorf("save: --state: %s: %w", name, err)
	case err != nil:
		return nil, exit.Usagef("save: --state: %s: %w", name, err)
	}
	return r.Doc(), nil
}

// ownedKeys are the record keys that every save sets itself. Values from a --state
// document are ignored.
var ownedKeys = []string{"version", "checkpoint_id", "created_at", "issue_number", "files_modified", "clock", "snapshot"}

func parseSets(list []string) ([]assignment, error) {
	var sets []assignment
	for _, s := range list {
		path, value, ok := strings.Cut(s, "=")
		switch {
		case !ok || path == "":
			return nil, exit.Usagef("save: --set: %q: want PATH=VALUE", s)
		case !utf8.ValidString(s):
			return nil, exit.Usagef("save: --set: %q: not valid UTF-8", s)
		case slices.Contains(ownedKeys, firstKey(path)):
			return nil, exit.Usagef("save: --set: %q: save sets %s itself", s, firstKey(path))
		}
		sets = append(sets, assignment{path, checkpoint.ParseValue(value)})
	}
	return sets, nil
}

// firstKey returns the first key of a path.
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
		layout.Forget(r)
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
