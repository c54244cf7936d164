package restore

// faultPoint is where a test stops or kills a restore: after every file that
// was moved, and between its stages.
var faultPoint = func(string) error { return nil }
