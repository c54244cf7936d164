package restore

// The decision about one path is a pure function. It has three parts: the position of the present
// version relative to the checkpoint's, the base of both, and the action. The same function decides
// about files and about index entries, and both models in the tests call it.

// A position is the relation of the present version of a path to the checkpoint's version.
type position int

const (
	same      position = iota // both are equal
	committed                 // a commit after the save brought it
	older                     // the checkpoint came after it
	newer                     // it is of a checkpoint that came after the restored one
	gone                      // the path is absent
	parallel                  // it is stored elsewhere
	unknown                   // it is stored nowhere
)

// A relation is the order of the checkpoint that a worktree agreed on and the restored one.
type relation int

const (
	unset relation = iota // the worktree agreed on no checkpoint
	equal
	before
	after
	beside
)

// stored reports where a version of a path is stored.
type stored struct {
	history bool // in HEAD at the save, or in its history
	before  bool // in the checkpoint, or in one that it came after
	after   bool // in a checkpoint that came after it
	beside  bool // in another checkpoint, or in the history of HEAD
}

// versions has the versions of one path that a decision compares. The zero V is an absent path.
type versions[V comparable] struct {
	want     V // of the checkpoint
	headThen V // of HEAD at the save
	headNow  V
	now      V
	here     V        // that the worktree last agreed on with a checkpoint
	origin   relation // of that checkpoint
	common   *V       // of the newest checkpoint that both came after; nil without one

	nowIn, hereIn stored
	landed        bool // a commit since the save has want
	diverged      bool // HEAD does not contain HEAD at the save, as after a rebase or an amend

	carried  bool // the save did not read want
	unproven bool // want is absent, which the checkpoint does not prove
	opaque   bool // now is not readable, or git ignores it
	session  bool // another session changed the path
	renamed  bool // a commit since has renamed the file to this path
}

// A choices value has the request's part of a decision.
type choices struct {
	back   bool // the files go back to the checkpoint, and are not merged with it
	force  bool
	exact  bool
	lost   bool // every file of the worktree is missing
	choice Changed
}

// An action is the result of a decision.
type action int

const (
	nothing      action = iota // the path needs no change
	write                      // write the checkpoint's version
	merge                      // merge both versions
	mergeFitting               // merge with HEAD at the save as the base; with conflicts as edited
	edited                     // leave: only the user changed it since
	changed                    // leave: both sides changed it
	landed                     // leave: the commits since have the checkpoint's version, or replaced that of HEAD
	superseded                 // leave: a commit since replaced the checkpoint's version
	held                       // leave: a commit since changed what the checkpoint changed
	notCaptured                // leave: the save did not read it
	unproven                   // leave: its absence is not proven
	others                     // leave: another session changed it
)

// leavesOpen reports whether the worktree and the checkpoint do not agree about a path after an
// action. A merge that fails becomes another action.
func (a action) leavesOpen(back bool) bool {
	switch a {
	case changed, held, notCaptured, unproven, others:
		return true
	case landed:
		return back
	}
	return false
}

// position returns the position of the present version. Going back tests newer before committed,
// so that a turn's own commits do not stop it.
func (v *versions[V]) position(back bool) position {
	var absent V
	isHead := v.now == v.headNow
	switch {
	case v.now == v.want:
		return same
	case v.opaque:
		return unknown
	case back && v.nowIn.after:
		return newer
	case isHead && v.landed, isHead && v.now != v.headThen && !v.nowIn.history && !v.nowIn.before:
		return committed
	case v.now == v.here && v.origin == before:
		return older
	case v.now == v.here && v.origin == after:
		return newer
	case v.now == v.here && v.origin == beside:
		return parallel
	case isHead && (v.now == v.headThen || v.nowIn.history):
		return older
	case v.nowIn.after:
		return newer
	case v.now == v.headThen || v.nowIn.history || v.nowIn.before:
		return older
	case v.now == absent:
		return gone
	case v.nowIn.beside:
		return parallel
	}
	return unknown
}

// base returns the version from which the present one and the checkpoint's come. A version that
// the checkpoint did not come after is no base of a merge: a merge with it would revert commits. On
// commits that were rewritten, the checkpoint is a patch to its HEAD, as in git stash apply.
func (v *versions[V]) base(p position, c choices) V {
	back := c.back
	switch {
	case v.origin == unset, !back && v.diverged && p == committed:
		return v.headThen
	case back, v.here == v.want, v.here == v.headThen, v.hereIn.history, v.hereIn.before:
		return v.here
	case v.common != nil:
		return *v.common
	}
	return v.headThen
}

// decide returns the action for a path, given its position and its base.
func (v *versions[V]) decide(p position, base V, c choices) action {
	var absent V
	isOlder := p == older || p == gone
	isLater := v.want == absent && v.headThen == absent // the path came after the save
	switch {
	case p == same:
		return nothing
	case v.want == absent && v.unproven:
		return unproven
	case v.session && c.choice == "" && !c.force:
		return others
	case c.force && !v.carried && !isLater, c.exact && v.want == absent:
		return write
	case v.carried && isOlder:
		return write
	case v.carried:
		return notCaptured
	case p == committed && (v.want == v.headThen || v.landed && !c.back):
		return landed
	case p == committed && v.renamed && c.choice == "":
		return merge
	case p == committed && c.back && c.choice != FromCheckpoint:
		return held
	case p == newer && !c.back:
		return nothing
	case p == gone && !c.back && v.want == v.headThen && !c.lost:
		return edited
	case isOlder, p != unknown && c.back, c.choice == FromCheckpoint && !isLater && (c.back || v.want != v.headThen):
		return write
	case base == v.want && p == parallel:
		return nothing // it is stored, and the checkpoint has not changed it
	case base == v.want && c.choice == Merged && !isLater && v.want != v.headThen:
		return mergeFitting
	case base == v.want && p == committed:
		return superseded
	case base == v.want, !c.back && v.want == v.headThen && p != parallel:
		return edited
	case !c.back && base == v.now, c.choice == FromCheckpoint && !isLater:
		return write
	case c.choice == Merged, c.choice == "" && !c.back:
		return merge
	}
	return changed
}

// needsHistory reports whether the history of commits can change the decision, which is made without
// it. A change by the user alone is left without a look.
func (v *versions[V]) needsHistory(c choices) bool {
	p := v.position(c.back)
	return (p == committed || p == unknown || p == parallel && !c.back) && (c.back || v.base(p, c) != v.want)
}

// plan returns the action for a path, and the base of a merge.
func (v *versions[V]) plan(c choices) (action, V) {
	p := v.position(c.back)
	base := v.base(p, c)
	a := v.decide(p, base, c)
	if a == mergeFitting {
		base = v.headThen
	}
	return a, base
}

// undoOf returns the decision about the undo of one entry: back to before, if the path still is as
// the entry left it. A commit that took the entry's version keeps it.
func undoOf[V comparable](before, entry, now, headThen, headNow V) versions[V] {
	var absent V
	return versions[V]{
		want: before, here: entry, origin: after, now: now, headThen: headThen, headNow: headNow,
		opaque: now == absent && entry != absent, // a later deletion is a change of the user
	}
}
