package profile_test

import (
	"context"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/waymark-trace/waymark/profile"
)

func Example() {
	dir, err := os.MkdirTemp("", "profiles")
	if err != nil {
		return
	}
	defer func() { _ = os.RemoveAll(dir) }()

	p, err := profile.Start(dir, profile.WithApp("shop"), profile.WithKinds("goroutine", "heap"))
	if err != nil {
		fmt.Println(err) // the kinds that could start go on
	}
	// … the program …
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	if err := p.Stop(ctx, "end of main"); err != nil {
		fmt.Println(err)
	}
	for _, path := range p.Files() {
		_, kind, _ := strings.Cut(path, p.ID()+".")
		fmt.Println(kind)
	}
	// Output:
	// goroutine.pprof
	// heap.pprof
	// profiles.json
}
