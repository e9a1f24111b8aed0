package main

const preface = `Every claim is a ratio inside one run, against a named rival with its defaults: ours and the rival's work alternate, slice by slice, there and
back, and the ratio is the median over the rounds, which is not quite the quotient of the two medians beside it. P1 and P2 are measured with
sixteen pairs of providers, one after the other: a pair keeps for seconds who wakes whom between a span's end and its processor. The figures of
two runs, or of two machines, are not comparable; the ratios mostly are. "Holds" is what must be true on a noisy machine, "stretch" is where it
is to go. ` + "`make bench`" + ` measures all of it again, in ten minutes; ` + "`make bench-check`" + `, in seconds, only what a busy machine does not
change.

"64 MB live heap" is a server with a cache; with an "empty heap" the collector runs after each 4 MB, and what allocates looks worse than it is.
The quicker middleware overruns the batch processor's queue first (a few per cent, flat out), and a span that is dropped costs less than one
that is exported, by less than a hundredth of the ratio.

A sixth of otelhttp's time (17 % of its CPU profile) is the metrics of each request, which it prepares by default also where nothing takes
them, as here. Waymark has no metrics: that part of the ratio is work that we do not do.

The server span that is measured has every Required and Recommended attribute of the semantic conventions (a test holds it), on a request that a
ServeMux routes, with a query and a User-Agent.

`

const conclusions = `## What the scale says

- **How to read it.** "Ours" is the median, over the rounds, of the difference of two noisy figures, and so not the difference of the two medians
  before it. On a busy machine single rows are off by a microsecond or more: only what a whole column shows counts.
- **Attributes.** The SDK's own cost grows with each attribute, and ours with the bytes; from 0 to 128 neither grows faster than its input.
- **Values.** Past some hundred bytes a span costs what copying and looking at its bytes costs; nothing is quadratic.
- **Spans a trace.** The cost of a span does not depend on the size of its trace: nothing is kept for a trace.
- **Requests at a time.** From one to a thousand no growth of our part stands out of the noise. Encoding happens outside of the lock, on the
  goroutine that ends the span.
- **More cores.** All requests share one lock, which is held while a span's bytes are copied to the line. The table above says how many cores it
  takes to fill it, for a handler that does nothing else; real handlers do, and move that number up. What is waited there is mostly for a core:
  a thousand goroutines that never block have two of them. The background writer waits in the same line, so that such a load, which no server
  has whose requests come over a network, can fill the buffers; what is dropped then is counted.
`
