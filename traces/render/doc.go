// Package render draws finished spans: as a text tree for a terminal, a test
// failure or a log ([Tree]), as a Chrome trace for Perfetto, speedscope and
// chrome://tracing ([ChromeTrace]), as a native speedscope file ([Speedscope]),
// as one HTML file that needs no network ([HTML]), and as a fragment of HTML
// for a notebook ([Inline]).
//
//	set := traces.NewSet(spans)
//	if err := render.Tree(os.Stdout, set); err != nil {
//		return err
//	}
//
// prints
//
//	└── GET /users/{id} (10.00 ms) {scope=shop}
//	    └── SELECT (2.00 ms) {scope=shop.db} [db.system='sqlite']
//
// What is in a span came over a network: it never reaches a terminal as a
// control sequence or a page as markup.
//
// All functions write the same bytes for the same set, call nothing but the
// writer, and may run at the same time on one set. An error is the writer's,
// prefixed with "render: ".
package render
