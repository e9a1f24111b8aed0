package hiding

import (
	"slices"
	"strings"
)

// call is what an object of JSON is in a call of a model.
type call int8

const (
	neither call = iota
	request
	answer
)

// hidesMember reports whether the value of a member is hidden for its name. Names are
// as keyOf leaves them.
func (e editor) hidesMember(name string, of call) bool {
	if e.hidden.tools && isToolsName(name) {
		return true
	}
	return e.hidden.parameters && (isParameterName(name) ||
		of == request && !isRequestContent(name) || of == answer && isParameterOfAnswer(name))
}

// isToolsName reports whether a member holds the tools that a model is offered.
func isToolsName(name string) bool {
	switch name {
	case "tools", "functions", "functiondeclarations", "tooldefinitions", "toolconfig":
		return true
	}
	return false
}

// isParameterName reports whether a member says how a model is to answer, wherever it
// is: these names hardly mean anything else.
func isParameterName(name string) bool {
	switch name {
	case "temperature", "topp", "topk", "topa", "minp", "typicalp", "tfsz", "bestof", "candidatecount",
		"maxtokens", "maxcompletiontokens", "maxoutputtokens", "maxnewtokens", "numpredict", "numctx", "numbeams", "dosample",
		"stopsequences", "randomseed", "frequencypenalty", "presencepenalty", "repetitionpenalty", "repeatpenalty", "repeatlastn",
		"logitbias", "toplogprobs", "responselogprobs", "streamoptions", "responseformat", "responsemimetype", "responseschema",
		"responsemodalities", "toolchoice", "paralleltoolcalls", "maxtoolcalls", "reasoningeffort", "thinkingconfig",
		"thinkingbudget", "budgettokens", "servicetier", "mirostat", "mirostateta", "mirostattau", "safetysettings",
		"generationconfig", "inferenceconfig", "additionalmodelrequestfields", "modelkwargs", "invocationparams",
		"invocationparameters", "modelparameters", "encodingformat", "promptcachekey", "safetyidentifier":
		return true
	}
	return false
}

// isParameterOfAnswer reports whether a member of an answer repeats a parameter.
func isParameterOfAnswer(name string) bool {
	switch name {
	case "seed", "stop", "n", "logprobs", "reasoning", "truncation", "store", "background", "text", "metadata", "user", "verbosity":
		return true
	}
	return false
}

// callOf tells what an object with such members is, where it matters.
func (e editor) callOf(names []string) call {
	has := func(name string) bool { return slices.Contains(names, name) }
	switch {
	case !e.hidden.parameters, !has("model") && !has("modelid"):
		return neither
	case has("choices"), has("usage"), has("output"), has("candidates"), has("embeddings"), has("data"):
		return answer
	case slices.ContainsFunc(names, func(name string) bool { return !strings.HasPrefix(name, "model") && isRequestContent(name) }):
		return request
	}
	return neither
}

// isRequestContent reports whether a member of a request is no parameter.
func isRequestContent(name string) bool {
	switch name {
	case "model", "modelid", "messages", "contents", "content", "prompt", "prompts", "input", "inputs", "inputtext", "texts", "system",
		"systeminstruction", "systemprompt", "instructions", "history", "chathistory", "query", "documents", "images", "context":
		return true
	}
	return isToolsName(name)
}

// isVectorName reports whether a member holds an embedding.
func isVectorName(name string) bool {
	return strings.Contains(name, "embedding") && !strings.Contains(name, "model") || strings.Contains(name, "vector")
}

// isImageName reports whether a member holds an image, or says where it is.
func isImageName(name string) bool { return strings.Contains(name, "image") }

// isLabel reports whether a member of an image says what it is, not what it shows.
func isLabel(name string) bool {
	switch name {
	case "type", "role", "mimetype", "mediatype", "contenttype", "modality", "format", "detail", "text", "width", "height":
		return true
	}
	return false
}

// saysImage reports whether a member says that the object it is in is an image.
func saysImage(name, value string) bool {
	value = strings.ToLower(value)
	switch name {
	case "mimetype", "mediatype", "contenttype":
		return strings.HasPrefix(value, "image/")
	case "type", "modality", "kind":
		return strings.HasPrefix(value, "image") || strings.HasSuffix(value, "image") || strings.HasSuffix(value, "image_url")
	}
	return false
}
