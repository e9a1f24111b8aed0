// Package notebook shows what a cell of a Go notebook did: its spans as a flame
// graph, as a tree, and as a Chrome trace to download, below the cell. It is for
// GoNB, the Go kernel for Jupyter.
//
//	%%
//	notebook.Cell(func(ctx context.Context) error {
//		return train(ctx, data)
//	})
//
// It needs no package of GoNB's, and may be used beside them. Where no kernel
// listens, as when the notebook's code runs as a plain program, the tree goes to
// standard output.
package notebook

import (
	"context"
	"errors"
	"fmt"
	"html"
	"io"
	"os"
	"strings"

	"github.com/waymark-trace/waymark/capture"
)

// Cell captures fn, as [capture.Run] does under the name "cell" or that of
// [capture.Name], and shows the spans.
//
// A cell that fails still shows its spans, and still fails: an error of fn is
// panicked with, since a notebook has nobody to return it to, and a panic of fn
// goes on as it is.
func Cell(fn func(ctx context.Context) error, opts ...capture.Option) {
	if err := cell(fn, opts); err != nil {
		panic(fmt.Errorf("notebook: cell: %w", err)) // what makes the program, and so the cell, fail
	}
}

func cell(fn func(ctx context.Context) error, opts []capture.Option) error {
	var res *capture.Result
	defer func() {
		if res == nil {
			return
		}
		if err := Show(res); err != nil {
			_, _ = fmt.Fprintln(stdout(), err)
		}
	}()
	opts = append([]capture.Option{capture.Name("cell")}, opts...)
	_, err := capture.Run(context.Background(), "cell", fn, append(opts, capture.Into(&res))...)
	return err
}

// Show shows a result below the cell that runs, or prints its tree to standard
// output where there is no notebook. When the notebook cannot be reached it prints
// the tree too, and says so by the error.
func Show(res *capture.Result) error {
	return show(res, os.Getenv("GONB_PIPE"), stdout(), defaultLimits()) //nolint:forbidigo // how GoNB tells its programs
}

func show(res *capture.Result, pipe string, out io.Writer, limit limits) error {
	var unreached error
	if pipe != "" {
		if unreached = send(pipe, page(res), limit); unreached == nil {
			return nil
		}
		unreached = fmt.Errorf("notebook: show: %w", unreached)
	}
	text := res.String() + "\n"
	if why := res.Empty(); why != "" {
		text += "(" + why + ")\n"
	}
	if _, err := io.WriteString(out, text); err != nil {
		return errors.Join(unreached, fmt.Errorf("notebook: show: %w", err))
	}
	return unreached
}

func stdout() io.Writer {
	return os.Stdout //nolint:forbidigo // to print there is what this package is for
}

// page is what is shown below a cell.
func page(res *capture.Result) string {
	var b strings.Builder
	flame(&b, res.Set())
	b.WriteString(res.HTML())
	if why := res.Empty(); why != "" {
		b.WriteString("<p>" + html.EscapeString(why) + "</p>")
	}
	return b.String()
}
