package capturetest

// KeepAtMost changes how many spans are kept.
func (tr *Trace) KeepAtMost(n int) { tr.recorder.most = n }
