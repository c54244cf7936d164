// Package work has the steps that several commands share: find the workflow, judge a
// checkpoint (judge.go), read the issue from its source (issuesource.go), save
// (savestep.go), push through the gate that decides by gitstore.Publication what may become
// public (pushgate.go), apply the rules of age (age.go), and read and write the files of
// other systems (layoutfiles.go).
package work
