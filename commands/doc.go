// Package commands is the command line: one file a command, each with its
// flags, the command and what it does, from top to bottom. It is the only
// place that knows flags, terminals, the environment and the time; what it
// decides with lies in the packages below.
package commands
