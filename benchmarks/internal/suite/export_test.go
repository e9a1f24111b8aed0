package suite

import (
	"io"
	"testing"
)

func BenchmarkOurs(b *testing.B) {
	spans := Batch(BatchSize)
	export("", ours(io.Discard), spans).Run(b.N)
}
