//go:build race

package annotate_test

const raceEnabled = true
