// Package share exchanges chains with remotes: fetch, push, sync, purge and reading a
// remote.
//
// Fetch, push and sync are one engine with the state in a Syncing:
//
//   - plan: planFetch, planPush and planSync compare the chains of an issue, and
//     set the result and the new tips. They write nothing.
//   - transfer: a fetch brings remote chains below refs/git-checkpoint/incoming. A push
//     checks the exposed commits, then pushes with a lease on the compared tips.
//   - local update: localUpdate moves the local refs of all issues in one transaction, and
//     those of each failed issue in a transaction of its own.
//
// A fetch pushes nothing and does not merge. A push moves only remote-tracking refs here.
// If a ref moves concurrently, a push and a sync plan the issue again.
package share

import "git-checkpoint/gitstore/internal/chain"

// Sharer exchanges chains with remotes.
type Sharer struct {
	*chain.Chains
}
