package env

import "math"

// readHide reads the switches that keep content out of spans.
func (p *parser) readHide() Hide {
	return Hide{
		Inputs:                  p.hide(KeyHideInputs),
		Outputs:                 p.hide(KeyHideOutputs),
		InputMessages:           p.hide(KeyHideInputMessages),
		OutputMessages:          p.hide(KeyHideOutputMessages),
		InputText:               p.hide(KeyHideInputText),
		OutputText:              p.hide(KeyHideOutputText),
		InputImages:             p.hide(KeyHideInputImages),
		LLMInvocationParameters: p.hide(KeyHideLLMInvocationParameters),
		LLMTools:                p.hide(KeyHideLLMTools),
		Prompts:                 p.hide(KeyHidePrompts, KeyHideLLMPrompts),
		Choices:                 p.hide(KeyHideChoices),
		EmbeddingsVectors:       p.hide(KeyHideEmbeddingsVectors, KeyHideEmbeddingVectors),
		EmbeddingsText:          p.hide(KeyHideEmbeddingsText),
		Base64ImageMaxLength:    p.imageLimit(),
	}
}

// hide reads one switch, which may have an older name as well. A value that cannot
// be read hides: somebody wanted something kept out, and what a span has shown
// cannot be taken back.
func (p *parser) hide(keys ...string) Value[bool] {
	var out Value[bool]
	for _, key := range keys {
		raw, ok := p.get(key)
		if !ok {
			continue
		}
		on, want := parseSwitch(raw)
		if want != "" {
			p.find(key, raw, want, "true: it hides")
			on = true
		}
		if !out.V {
			out = Value[bool]{V: on, Key: key}
		}
	}
	return out
}

// imageLimit reads the limit of images. Without the variable there is none: to look
// at each attribute of each span is for who asks for it. One that cannot be read is
// OpenInference's default.
func (p *parser) imageLimit() Value[int] {
	limit := read(p, 32000, parseInt(0, math.MaxInt32), KeyBase64ImageMaxLength)
	if _, given := p.get(KeyBase64ImageMaxLength); given {
		limit.Key = KeyBase64ImageMaxLength
	}
	return limit
}
