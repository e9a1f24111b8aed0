//go:build !race

package recorder_test

// raceEnabled tells that the race detector is on, which allocates.
const raceEnabled = false
