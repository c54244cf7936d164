// Package config reads the settings of git-checkpoint. A table holds each key's type,
// default, documentation and trust, which limits the values that a file in a clone can
// set.
//
// # Sources
//
// A later source overrides an earlier source:
//
//   - the defaults of the table
//   - one file in the worktree: .checkpoint.yaml in the root directory, otherwise
//     .claude/checkpoint-config.yaml
//   - git's configuration, from system scope to worktree scope and command line
//   - environment variables
//   - flags, applied with Settings.Set
//
// # Names
//
// A key consists of words joined by "_" and sections joined by ".", for example
// retention.batch_complete. Each source has its own notation:
//
//	in a file               checkpoint:
//	                          retention:
//	                            batch_complete: 3
//	in git's configuration  git config checkpoint.retention.batch-complete 3
//	in the environment      GIT_CHECKPOINT_RETENTION_BATCH_COMPLETE=3
//
// Git restricts variable names to letters, digits and "-". In git's configuration "-"
// therefore replaces "_", and a section becomes a subsection. Names are case-insensitive
// there and dashes are optional: checkpoint.maxAgeDays means max_age_days. The root key
// "checkpoint" is optional in .checkpoint.yaml.
//
// A list is a sequence in a file and comma-separated text in other sources. A mapping is
// written label=phase in other sources. Git's configuration can repeat such a variable,
// and the last scope with values replaces the values of other scopes. An empty
// environment variable counts as not set.
//
// # Trust
//
// A file in the worktree comes with the clone and is hostile until checked. Each key
// restricts the values from such a file:
//
//   - Free: any valid value
//   - Tighten: values that keep more, or are stricter, than the default
//   - Inside: a path inside the worktree
//   - Never: no value
//
// A weaker value for a Tighten key is accepted if a trusted source also sets this key.
// The trusted source then overrides the file.
package config
