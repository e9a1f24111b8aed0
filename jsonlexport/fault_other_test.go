//go:build !unix

package jsonlexport_test

var systemChildren map[string]func() int
