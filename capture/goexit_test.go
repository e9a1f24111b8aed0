package capture_test

import "runtime"

func goexit() { runtime.Goexit() }
