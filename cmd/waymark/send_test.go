package main

import "github.com/rogpeppe/go-internal/testscript"

func collector(ts *testscript.TestScript, _ bool, args []string) {}
func schema(ts *testscript.TestScript, _ bool, args []string) {}
