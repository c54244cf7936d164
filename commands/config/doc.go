// Package config holds the settings of git-checkpoint: every key with its
// type, its default, what it does, and how far a file that came with a clone
// is trusted to set it.
//
// # Sources
//
// In order, later wins:
//
//   - the defaults in this package's table;
//   - one file in the worktree: .checkpoint.yaml at its root, else
//     .claude/checkpoint-config.yaml;
//   - git's configuration, system to worktree and command line;
//   - variables of the environment;
//   - flags, with Settings.Set.
//
// # Names
//
// A key has words joined by "_" and sections joined by ".", for example
// retention.batch_complete. It is written
//
//	in a file               checkpoint:
//	                          retention:
//	                            batch_complete: 3
//	in git's configuration  git config checkpoint.retention.batch-complete 3
//	in the environment      GIT_CHECKPOINT_RETENTION_BATCH_COMPLETE=3
//
// Names of git variables have letters, digits and "-" only, so "-" stands for
// "_" there and sections become subsections. Case does not matter and the
// dashes may be left out: checkpoint.maxAgeDays is max_age_days. The root key
// "checkpoint" may be left out of .checkpoint.yaml.
//
// A list is a sequence in a file, and comma-separated elsewhere; a mapping is
// written label=phase there. In git's configuration they may also be repeated,
// and the values of the last scope that has any replace those of the others.
// A variable of the environment that is empty counts as not set.
//
// # Trust
//
// A file in the worktree comes with the clone, so it is hostile until checked.
// Each key says what such a file may do: set it (Free), only keep more or be
// stricter than the default (Tighten), name a path inside the worktree
// (Inside), or nothing (Never). A weaker value is accepted where a trusted
// source sets the same key, because that one wins anyway.
package config
