package hiding_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"go.opentelemetry.io/otel/attribute"

	"github.com/waymark-trace/waymark/bootstrap/internal/hiding"
	"github.com/waymark-trace/waymark/env"
)

// What is to be hidden, and what stands beside it.
const (
	secret    = "hunter2"
	bystander = "harmless"
)

// picture is an image whose base64 has the secret in it.
const picture = "iVBORw0KGgo" + secret + "AAAAANSUhEUgAAAAUA"

// place is an attribute with the secret in it.
type place struct {
	name string
	kv   attribute.KeyValue
}

func at(key string, value string) place { return place{key, attribute.String(key, value)} }

// cutJSON is a text as package annotate cuts it.
func cutJSON(s string, n int) string { return s[:n] + fmt.Sprintf("…[truncated %d bytes]", len(s)-n) }

// wholes are the forms in which a text can be the whole of an input or an output.
func wholes(key string) []place {
	messages := `{"model":"m","messages":[{"role":"user","content":"` + secret + `"}]}`
	inner, _ := json.Marshal(messages)
	return []place{
		{"plain", attribute.String(key, "what about "+secret+"?")},
		{"messages", attribute.String(key, messages)},
		{"a struct", attribute.String(key, `{"Question":"`+secret+`","Top":3}`)},
		{"a list", attribute.String(key, `["a","`+secret+`"]`)},
		{"a string", attribute.String(key, `"`+secret+`"`)},
		{"an escaped string", attribute.String(key, `{"a":"\u0068unter2 `+secret+`"}`)},
		{"JSON in JSON", attribute.String(key, `{"body":`+string(inner)+`}`)},
		{"cut", attribute.String(key, cutJSON(messages+strings.Repeat(" ", 50), len(messages)-3))},
		{"cut inside of the text", attribute.String(key, cutJSON(`{"a":"`+secret+` and more and more"}`, 20))},
		{"cut without a mark", attribute.String(key, messages[:len(messages)-3])},
		{"no JSON", attribute.String(key, `{Question:`+secret+` Top:3}`)},
		{"a pointer", attribute.String(key, `&{Question:`+secret+`}`)},
		{"a list of strings", attribute.StringSlice(key, []string{"a", secret})},
		{"a map", attribute.Map(key, attribute.String("a", secret))},
	}
}

// imagesIn are the forms of images in the requests that there are, and in what programs make of them.
func imagesIn(key string) []place {
	url := "data:image/png;base64," + picture
	one := func(name, value string) place { return place{name, attribute.String(key, value)} }
	inner, _ := json.Marshal(`{"image":"` + url + `"}`)
	goBytes, _ := json.Marshal(map[string]any{"Name": bystander, "Picture": []byte("\x89PNG\r\n\x1a\n" + strings.Repeat("x", 30))})
	places := []place{
		one("a URL", url),
		one("in a text", "look at "+url+" please"),
		one("in Markdown", "![a cat]("+url+")"),
		one("upper case", "DATA:IMAGE/PNG;BASE64,"+picture),
		one("chat completions", `{"messages":[{"role":"user","content":[{"type":"text","text":"harmless"},{"type":"image_url","image_url":{"url":"`+url+`"}}]}]}`),
		one("responses", `{"input":[{"role":"user","content":[{"type":"input_text","text":"harmless"},{"type":"input_image","image_url":"`+url+`"}]}]}`),
		one("messages", `{"messages":[{"content":[{"type":"image","source":{"type":"base64","media_type":"image/png","data":"`+picture+`"}}]}]}`),
		one("contents", `{"contents":[{"parts":[{"text":"harmless"},{"inlineData":{"data":"`+picture+`","mimeType":"image/png"}}]}]}`),
		one("inline_data", `{"inline_data":{"mime_type":"image/heic","data":"`+strings.Repeat("b", 30)+secret+`"}}`),
		one("a list of images", `{"prompt":"harmless","images":["`+picture+`"]}`),
		one("converse", `{"image":{"format":"png","source":{"bytes":"`+picture+`"}}}`),
		one("OpenTelemetry", `[{"role":"user","parts":[{"type":"blob","mime_type":"image/png","modality":"image","content":"`+picture+`"}]}]`),
		one("a field of bytes", strings.Replace(string(goBytes), base64.StdEncoding.EncodeToString([]byte("\x89PNG\r\n\x1a\n"+strings.Repeat("x", 30))), picture, 1)),
		one("JSON in JSON", `{"body":`+string(inner)+`}`),
		one("escaped slashes", `{"a":"data:image\/png;base64,`+picture+`"}`),
		one("escaped letters", `{"a":"\u0064ata:image/png;base64,`+picture+`"}`),
		one("cut", cutJSON(`{"a":"`+url+strings.Repeat("B", 90)+`"}`, len(url)+30)),
		one("cut, of a type", cutJSON(`{"type":"image","data":"`+picture+strings.Repeat("B", 90)+`"}`, len(picture)+50)),
		{"a list of strings", attribute.StringSlice(key, []string{"harmless", url})},
		{"a map", attribute.Map(key, attribute.String("type", "image"), attribute.String("data", picture))},
		{"a map in a list", attribute.Slice(key, attribute.MapValue(attribute.String("picture", url)))},
		{"bytes", attribute.ByteSlice(key, []byte("\x89PNG\r\n\x1a\n"+secret+strings.Repeat("x", 30)))},
	}
	return places
}

// addressesIn are images that are elsewhere.
func addressesIn(key string) []place {
	one := func(name, value string) place { return place{name, attribute.String(key, value)} }
	return []place{
		one("chat completions", `{"content":[{"type":"image_url","image_url":{"url":"https://example.com/`+secret+`"}}]}`),
		one("messages", `{"type":"image","source":{"type":"url","url":"https://example.com/`+secret+`"}}`),
		one("contents", `{"fileData":{"mimeType":"image/png","fileUri":"gs://bucket/`+secret+`"}}`),
		one("OpenTelemetry", `[{"parts":[{"type":"uri","modality":"image","uri":"https://example.com/`+secret+`"},{"type":"file","modality":"image","file_id":"`+secret+`"}]}]`),
		one("by the ending", `{"Picture":"https://example.com/`+secret+`.JPG?size=2"}`),
		one("not encoded", `{"a":"data:image/svg+xml;utf8,<svg><text>`+secret+`</text></svg>"}`),
		one("numbers", `{"data":[137,80,78,71,13,10,26,10,0,0,0,13,73,72,68,82,`+strings.Repeat("104,", 3)+`"`+secret+`"]}`),
	}
}

func toolsIn(key string) []place {
	one := func(name, value string) place { return place{name, attribute.String(key, value)} }
	inner, _ := json.Marshal(`{"tools":[{"name":"` + secret + `"}]}`)
	return []place{
		one("chat completions", `{"model":"m","note":"harmless","tools":[{"type":"function","function":{"name":"f","description":"`+secret+`"}}]}`),
		one("functions", `{"functions":[{"name":"`+secret+`"}]}`),
		one("contents", `{"tools":[{"functionDeclarations":[{"name":"`+secret+`"}]}]}`),
		one("converse", `{"toolConfig":{"tools":[{"toolSpec":{"name":"`+secret+`"}}]}}`),
		one("a struct", `{"Tools":["`+secret+`"]}`),
		one("JSON in JSON", `{"body":`+string(inner)+`}`),
		one("cut", cutJSON(`{"tools":[{"name":"`+secret+`","description":"and more and more"}]}`, 40)),
		one("no JSON", `{Model:m Tools:[`+secret+`]}`),
		{"a map", attribute.Map(key, attribute.String("tools", secret))},
	}
}

func parametersIn(key string) []place {
	one := func(name, value string) place { return place{name, attribute.String(key, value)} }
	return []place{
		one("chat completions", `{"model":"m","messages":[{"content":"harmless"}],"temperature":"`+secret+`"}`),
		one("one that nobody knows", `{"model":"m","messages":[{"content":"harmless"}],"x_new_parameter":{"a":["`+secret+`"]}}`),
		one("contents", `{"contents":[],"generationConfig":{"topK":"`+secret+`"}}`),
		one("options", `{"model":"m","prompt":"harmless","options":{"num_ctx":"`+secret+`"}}`),
		one("converse", `{"messages":[],"inferenceConfig":{"maxTokens":"`+secret+`"}}`),
		one("an answer that repeats them", `{"model":"m","output":[],"reasoning":{"effort":"`+secret+`"},"tool_choice":"`+secret+`"}`),
		one("a struct", `{"Prompt":"harmless","MaxTokens":"`+secret+`"}`),
		one("cut", cutJSON(`{"temperature":"`+secret+` and more and more and more"}`, 40)),
		one("no JSON", `{Model:m Temperature:`+secret+`}`),
		{"a map", attribute.Map(key, attribute.String("topP", secret))},
	}
}

func vectorsIn(key string) []place {
	one := func(name, value string) place { return place{name, attribute.String(key, value)} }
	numbers := strings.Repeat("0.25,", 20) + "-1.5e-3"
	marked := strings.Replace(numbers, "0.25", "0.4242", 1) // the secret of a vector is a number
	return []place{
		one("embeddings", `{"object":"list","data":[{"object":"embedding","embedding":[0.4242,1]}]}`),
		one("in base64", `{"data":[{"embedding":"0.4242"}]}`),
		one("bare", "["+marked+"]"),
		one("a list of them", "[["+numbers+"],["+marked+"]]"),
		one("a struct", `{"Query":"harmless","Vector":[0.4242]}`),
		one("a field", `{"q":[`+marked+`]}`),
		one("cut", `{"data":[{"embedding":[`+marked[:40]+"…[truncated]"),
		one("no JSON", "["+strings.ReplaceAll(marked, ",", " ")+"]"),
		{"numbers", attribute.Float64Slice(key, append(make([]float64, 20), 0.4242))},
	}
}

func keyed(keys ...string) []place {
	var places []place
	for _, key := range keys {
		places = append(places, at(key, secret))
	}
	return places
}

func concat(lists ...[]place) []place {
	var all []place
	for _, list := range lists {
		all = append(all, list...)
	}
	return all
}

// The names that hold the text of inputs and outputs.
var (
	inputTexts = []string{
		"llm.input_messages.0.message.content", "llm.input_messages.10.message.contents.1.message_content.text",
		"llm.input_messages.0.message.tool_calls.0.tool_call.function.arguments", "llm.input_messages.0.message.function_call_arguments_json",
		"llm.input_messages.0.message.contents.0.message_content.audio.transcript", "llm.prompt_template.template",
		"llm.prompt_template.variables", "gen_ai.input.messages", "gen_ai.system_instructions", "gen_ai.prompt", "gen_ai.prompt.0.content",
		"reranker.query", "reranker.input_documents.0.document.content", "reranker.input_documents.0.document.metadata",
		"embedding.embeddings.0.embedding.text", "embedding.text", "input.audio.transcript", "audio.transcript",
	}
	outputTexts = []string{
		"llm.output_messages.0.message.content", "llm.output_messages.0.message.contents.0.message_content.text",
		"llm.output_messages.0.message.tool_calls.0.tool_call.function.arguments", "llm.function_call", "gen_ai.output.messages",
		"gen_ai.completion", "gen_ai.completion.0.content", "retrieval.documents.0.document.content",
		"retrieval.documents.0.document.metadata", "reranker.output_documents.3.document.content", "output.audio.transcript", "audio.transcript",
	}
	toolNames = keyed("llm.tools.0.tool.json_schema", "gen_ai.tool.definitions", "gen_ai.tool.description", "tool.parameters", "tool.description", "tool.json_schema")
	inputKeys = []string{"input.value", "gen_ai.input.messages", "gen_ai.tool.call.arguments", "llm.invocation_parameters", "llm.prompts.0.prompt.text", "llm.input_messages.0.message.content"}
)

// everywhere is where each variable's content can be.
func everywhere() map[string][]place {
	images, addresses := []place{}, []place{}
	for _, key := range append([]string{"metadata", "my.own"}, inputKeys...) {
		images = append(images, imagesIn(key)...)
	}
	for _, key := range inputKeys {
		addresses = append(addresses, addressesIn(key)...)
	}
	limited := append([]place(nil), images...)
	for _, key := range []string{"output.value", "gen_ai.output.messages", "llm.output_messages.0.message.contents.0.message_content.image.image.url"} {
		limited = append(limited, imagesIn(key)...)
	}
	tools := toolNames
	parameters := keyed("llm.invocation_parameters", "embedding.invocation_parameters", "gen_ai.request.temperature", "gen_ai.request.top_p")
	vectors := []place{
		at("embedding.embeddings.0.embedding.vector", "0.4242"), at("embedding.vector", "0.4242"),
		{"native", attribute.Float64Slice("embedding.embeddings.0.embedding.vector", []float64{0.4242})},
	}
	for _, key := range []string{"input.value", "output.value", "llm.invocation_parameters", "gen_ai.input.messages"} {
		tools = append(tools, toolsIn(key)...)
	}
	for _, key := range []string{"input.value", "output.value", "gen_ai.input.messages"} {
		parameters = append(parameters, parametersIn(key)...)
		vectors = append(vectors, vectorsIn(key)...)
	}
	return map[string][]place{
		"INPUTS": concat(wholes("input.value"), keyed(inputTexts...), keyed("llm.prompts.0.prompt.text", "gen_ai.tool.call.arguments",
			"input.audio.url", "audio.url"), imagesIn("input.value"), imagesIn("input.images.0.image.url"), tools),
		"OUTPUTS": concat(wholes("output.value"), keyed(outputTexts...), keyed("llm.choices.0.completion.text", "gen_ai.tool.call.result",
			"output.audio.url", "audio.url"), imagesIn("output.value"), imagesIn("output.images.0.image.url"), vectors),
		"INPUT_MESSAGES":  concat(wholes("input.value"), imagesIn("input.value"), keyed(inputTexts...), keyed("input.mime_type")),
		"OUTPUT_MESSAGES": concat(wholes("output.value"), imagesIn("output.value"), keyed(outputTexts...), keyed("output.mime_type")),
		"INPUT_TEXT": concat(wholes("input.value"), wholes("gen_ai.tool.call.arguments"), keyed(inputTexts...),
			keyed("llm.prompts.0.prompt.text")),
		"OUTPUT_TEXT": concat(wholes("output.value"), wholes("gen_ai.tool.call.result"), keyed(outputTexts...),
			keyed("llm.choices.0.completion.text")),
		"INPUT_IMAGES": concat(images, addresses, keyed("llm.input_messages.0.message.contents.0.message_content.image.image.url",
			"llm.input_messages.0.message.contents.0.message_content.file.url", "input.images.0.image.url")),
		"LLM_INVOCATION_PARAMETERS": parameters,
		"LLM_TOOLS":                 tools,
		"PROMPTS": concat(wholes("input.value"), keyed("llm.prompts.0.prompt.text", "llm.prompt_template.template",
			"llm.prompt_template.variables", "gen_ai.input.messages", "gen_ai.prompt", "gen_ai.prompt.0.content")),
		"CHOICES":                 concat(wholes("output.value"), keyed("llm.choices.0.completion.text", "gen_ai.output.messages", "gen_ai.completion")),
		"EMBEDDINGS_VECTORS":      vectors,
		"EMBEDDINGS_TEXT":         concat(wholes("input.value"), keyed("embedding.embeddings.0.embedding.text", "embedding.text")),
		"BASE64_IMAGE_MAX_LENGTH": limited,
	}
}

// masks are what each variable switches on.
func masks() map[string]func(attribute.KeyValue) (attribute.KeyValue, bool) {
	on := env.Value[bool]{V: true, Key: "x"}
	all := map[string]env.Hide{
		"INPUTS": {Inputs: on}, "OUTPUTS": {Outputs: on}, "INPUT_MESSAGES": {InputMessages: on}, "OUTPUT_MESSAGES": {OutputMessages: on},
		"INPUT_TEXT": {InputText: on}, "OUTPUT_TEXT": {OutputText: on}, "INPUT_IMAGES": {InputImages: on},
		"LLM_INVOCATION_PARAMETERS": {LLMInvocationParameters: on}, "LLM_TOOLS": {LLMTools: on}, "PROMPTS": {Prompts: on},
		"CHOICES": {Choices: on}, "EMBEDDINGS_VECTORS": {EmbeddingsVectors: on}, "EMBEDDINGS_TEXT": {EmbeddingsText: on},
		"BASE64_IMAGE_MAX_LENGTH": {Base64ImageMaxLength: env.Value[int]{V: 20, Key: "x"}},
	}
	m := map[string]func(attribute.KeyValue) (attribute.KeyValue, bool){}
	for name, h := range all {
		m[name] = hiding.New(h)
	}
	return m
}

// hidesParts are the variables that leave the rest of a value.
var hidesParts = map[string]bool{
	"INPUT_IMAGES": true, "BASE64_IMAGE_MAX_LENGTH": true, "LLM_TOOLS": true, "LLM_INVOCATION_PARAMETERS": true, "EMBEDDINGS_VECTORS": true,
}

// shown is all that an attribute shows.
func shown(kv attribute.KeyValue) string {
	if kv.Value.Type() == attribute.BYTESLICE {
		return string(kv.Value.AsByteSlice())
	}
	return kv.Value.String()
}

// What a variable hides is nowhere, in whatever form it comes.
func TestHiddenEverywhere(t *testing.T) {
	t.Parallel()
	all := masks()
	for variable, places := range everywhere() {
		for _, p := range places {
			t.Run(variable+"/"+string(p.kv.Key)+"/"+p.name, func(t *testing.T) {
				t.Parallel()
				before := shown(p.kv)
				content := secret
				if !strings.Contains(before, secret) {
					content = "0.4242"
				}
				if !strings.Contains(before, content) {
					t.Fatalf("nothing to hide in %s", before)
				}
				kv, keep := all[variable](p.kv)
				if after := shown(kv); keep && strings.Contains(after, content) {
					t.Errorf("%s shows %s", p.kv.Key, after)
				}
				if keep && hidesParts[variable] && strings.Contains(before, bystander) && !strings.Contains(shown(kv), bystander) {
					t.Errorf("%s has lost what stands beside: %s", p.kv.Key, shown(kv))
				}
				again, keepsAgain := all[variable](kv)
				if keep && (!keepsAgain || shown(again) != shown(kv)) {
					t.Errorf("hiding twice makes %s of %s", shown(again), shown(kv))
				}
			})
		}
	}
}

// What is not content stays as it is, to the byte.
func TestWhatStays(t *testing.T) {
	t.Parallel()
	all := masks()
	str := func(key, value string) attribute.KeyValue { return attribute.String(key, value) }
	shortImage := "data:image/png;base64,iVBO"
	for _, tt := range []struct {
		variables string
		kv        attribute.KeyValue
	}{
		{"*", str("llm.model_name", "gpt-5")},
		{"*", str("gen_ai.request.model", "gpt-5")},
		{"*", attribute.Int("llm.token_count.prompt", 3)},
		{"*", attribute.Int("gen_ai.usage.input_tokens", 3)},
		{"*", str("tool.name", "search")},
		{"*", str("url.full", "https://example.com/cat.png?temperature=1")},
		{"*", str("http.route", "/image/{id}")},
		{"*", str("input.values", "not input.value")},
		{"*", str("llm.toolset", "not llm.tools")},
		{"*", str("my.own", `{"temperature":20,"tools":["hammer"],"vector":[1,2]}`)},
		{"*", attribute.StringSlice("tag.tags", []string{"beta"})},
		{"*", attribute.Float64Slice("my.own", make([]float64, 100))},
		{"*", attribute.Bool("input.cached", true)},
		{"INPUTS INPUT_MESSAGES INPUT_TEXT INPUT_IMAGES PROMPTS EMBEDDINGS_TEXT LLM_TOOLS LLM_INVOCATION_PARAMETERS", str("output.value", `{"text": "an answer", "image": "`+shortImage+`"}`)},
		{"OUTPUTS OUTPUT_MESSAGES OUTPUT_TEXT CHOICES EMBEDDINGS_VECTORS", str("input.value", `{"text": "a question", "image": "`+shortImage+`"}`)},
		{"INPUT_TEXT OUTPUT_TEXT", str("llm.input_messages.0.message.role", "user")},
		{"INPUT_TEXT OUTPUT_TEXT", str("llm.output_messages.0.message.tool_calls.0.tool_call.function.name", "f")},
		{"INPUT_IMAGES LLM_TOOLS LLM_INVOCATION_PARAMETERS EMBEDDINGS_VECTORS", str("input.value", ` {"text" : "a question" , "n":1.50, "image_count": 3, "tool_calls":[{"name":"f"}], "list":[1,2,3], "embedding_model":"m", "role":"user"} `)},
		{"INPUT_IMAGES LLM_TOOLS LLM_INVOCATION_PARAMETERS EMBEDDINGS_VECTORS", str("input.value", "what is data:image for?")},
		{"INPUT_IMAGES", str("input.value", "see https://example.com/cat.png for a cat")},
		{"LLM_INVOCATION_PARAMETERS", str("output.value", `{"model":"m","choices":[{"message":{"content":"x"}}],"usage":{"prompt_tokens":3}}`)},
		{"BASE64_IMAGE_MAX_LENGTH", str("input.value", `{"image":"data:image/png;bas"}`)},
		{"BASE64_IMAGE_MAX_LENGTH", str("input.value", "https://example.com/a-long-address-of-an-image.png")},
		{"BASE64_IMAGE_MAX_LENGTH", str("input.value", `{"type":"image_url","image_url":"https://example.com/a-long-address-of-an-image"}`)},
		{"BASE64_IMAGE_MAX_LENGTH", str("input.value", strings.Repeat("a long text ", 100))},
	} {
		for variable, mask := range all {
			if tt.variables != "*" && !strings.Contains(" "+tt.variables+" ", " "+variable+" ") {
				continue
			}
			if kv, keep := mask(tt.kv); !keep || kv != tt.kv && shown(kv) != shown(tt.kv) {
				t.Errorf("%s makes %s of %s = %s", variable, shown(kv), tt.kv.Key, shown(tt.kv))
			}
		}
	}
	if hiding.New(env.Hide{}) != nil {
		t.Error("without a variable something is looked at")
	}
}

// A text that is too much to be told apart is hidden whole; one that is nested in
// itself takes no stack.
func TestTooMuch(t *testing.T) {
	t.Parallel()
	for name, value := range map[string]string{
		"many":    "[" + strings.Repeat("1,", 110_000) + `"` + secret + `"]`,
		"deep":    strings.Repeat("[", 100_000) + secret,
		"strings": strings.Repeat(`"\"`, 10_000) + secret,
	} {
		for variable, mask := range masks() {
			kv, _ := mask(attribute.String("input.value", value))
			if got := kv.Value.AsString(); got != value && got != hiding.Placeholder {
				t.Errorf("%s, %s: %d bytes of %d: %.50s", variable, name, len(got), len(value), got)
			}
		}
	}
	kv, _ := hiding.New(env.Hide{LLMTools: env.Value[bool]{V: true}})(attribute.String("input.value", "["+strings.Repeat("1,", 110_000)+`{"tools":"`+secret+`"}]`))
	if kv.Value.AsString() != hiding.Placeholder {
		t.Errorf("%.50s", kv.Value.AsString())
	}
}

// FuzzText puts an image somewhere into any text, cuts it anywhere, and looks for it.
func FuzzText(f *testing.F) {
	for _, places := range everywhere() {
		for _, p := range places {
			if p.kv.Value.Type() == attribute.STRING {
				f.Add(p.kv.Value.AsString(), 3, 200)
			}
		}
	}
	all := masks()
	f.Fuzz(func(t *testing.T, value string, where, end int) {
		for variable, mask := range all {
			for _, key := range []attribute.Key{"input.value", "output.value", "my.own"} {
				kv, keep := mask(key.String(value))
				if got := kv.Value.AsString(); keep && got != value && got != hiding.Placeholder && json.Valid([]byte(value)) && !json.Valid([]byte(got)) {
					t.Errorf("%s makes %q, which is no JSON, of %q", variable, got, value)
				}
			}
		}
		var v any
		if json.Unmarshal([]byte(value), &v) != nil {
			return
		}
		n := where
		with, err := json.Marshal(withImage(v, &n))
		if err != nil {
			t.Fatal(err)
		}
		if end > 0 && end < len(with) {
			with = []byte(cutJSON(string(with), end))
		}
		for _, variable := range []string{"INPUT_IMAGES", "BASE64_IMAGE_MAX_LENGTH", "INPUT_TEXT", "INPUT_MESSAGES", "INPUTS"} {
			if kv, keep := all[variable](attribute.String("input.value", string(with))); keep && strings.Contains(kv.Value.AsString(), secret) {
				t.Errorf("%s shows %s of %s", variable, kv.Value.AsString(), with)
			}
		}
	})
}

// withoutSecret takes the secret out until there is none: of "huntehunter2r2" once would leave one.
func withoutSecret(s string) string {
	for strings.Contains(s, secret) {
		s = strings.ReplaceAll(s, secret, "")
	}
	return s
}

// withImage puts an image in place of the n-th string that does not hold the secret, which it takes out.
func withImage(v any, n *int) any {
	switch v := v.(type) {
	case string:
		if *n--; *n == -1 {
			return withoutSecret(v) + "data:image/png;base64," + picture
		}
		return withoutSecret(v)
	case []any:
		for i := range v {
			v[i] = withImage(v[i], n)
		}
	case map[string]any:
		out := map[string]any{}
		for key, value := range v {
			out[withoutSecret(key)] = withImage(value, n)
		}
		return out
	}
	return v
}

func BenchmarkMask(b *testing.B) {
	text := `{"messages":[` + strings.Repeat(`{"role":"user","content":"a question of some length"},`, 1000) + `{}]}`
	for name, mask := range masks() {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				mask(attribute.String("input.value", text))
			}
		})
	}
}
