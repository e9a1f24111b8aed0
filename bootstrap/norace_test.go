//go:build !race

package bootstrap_test

const raceEnabled = false
