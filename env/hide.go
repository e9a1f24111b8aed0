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
		Prompts:                 p.hide(KeyHidePrompts),
		Choices:                 p.hide(KeyHideChoices),
		EmbeddingsVectors:       p.hide(KeyHideEmbeddingsVectors),
		EmbeddingsText:          p.hide(KeyHideEmbeddingsText),
		Base64ImageMaxLength:    read(p, 32000, parseInt(0, math.MaxInt32), KeyBase64ImageMaxLength),
	}
}

// hide reads one switch. A value that cannot be read hides: somebody wanted
// something kept out, and what a span has shown cannot be taken back.
func (p *parser) hide(key string) Value[bool] {
	raw, ok := p.get(key)
	if !ok {
		return Value[bool]{}
	}
	on, want := parseSwitch(raw)
	if want != "" {
		p.find(key, raw, want, "true: it hides")
		on = true
	}
	return Value[bool]{V: on, Key: key}
}
