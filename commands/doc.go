// Package commands implements the command line: one file per command, with its flags, its
// declaration and its run function, from top to bottom. Only this package reads flags,
// terminals, the environment and the time. Decisions are made in the packages below.
package commands
