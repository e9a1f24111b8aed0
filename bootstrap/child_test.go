package bootstrap_test

func runChild(name string) int { return 2 }
