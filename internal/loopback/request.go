package loopback

import (
	"encoding/json"
	"strings"
)

// Request is what the client sent to the model.
type Request struct {
	Raw      []byte          `json:"-"`
	Model    string          `json:"model"`
	Stream   bool            `json:"stream"`
	System   json.RawMessage `json:"system"`
	Tools    []Tool          `json:"tools"`
	Messages []Message       `json:"messages"`
}

// Tool is one tool's definition, with the bytes it takes in the request.
type Tool struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	InputSchema json.RawMessage `json:"input_schema"`
	Deferred    bool            `json:"defer_loading"`
	Raw         []byte          `json:"-"`
}

// UnmarshalJSON keeps the bytes.
func (t *Tool) UnmarshalJSON(raw []byte) error {
	type plain Tool
	if err := json.Unmarshal(raw, (*plain)(t)); err != nil {
		return err
	}
	t.Raw = append([]byte(nil), raw...)
	return nil
}

// Message is one message of the conversation.
type Message struct {
	Role    string  `json:"role"`
	Content Content `json:"content"`
}

// Content is a message's blocks; a plain string is one block of text.
type Content []Part

// UnmarshalJSON reads both forms.
func (c *Content) UnmarshalJSON(raw []byte) error {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		*c = Content{{Type: "text", Text: text}}
		return nil
	}
	var parts []Part
	if err := json.Unmarshal(raw, &parts); err != nil {
		return err
	}
	*c = parts
	return nil
}

// Part is one block of a message.
type Part struct {
	Type      string          `json:"type"`
	Text      string          `json:"text"`
	Name      string          `json:"name"`
	Input     json.RawMessage `json:"input"`
	ID        string          `json:"id"`
	ToolUseID string          `json:"tool_use_id"`
	IsError   bool            `json:"is_error"`
	Content   Content         `json:"content"`
}

// String is the text of a block, a tool's result included.
func (p Part) String() string {
	var b strings.Builder
	b.WriteString(p.Text)
	for _, inner := range p.Content {
		b.WriteString(inner.String())
	}
	return b.String()
}

// Results are the tool results in the last message, in order.
func (r *Request) Results() []Part {
	var out []Part
	if len(r.Messages) == 0 {
		return nil
	}
	for i := len(r.Messages) - 1; i >= 0 && r.Messages[i].Role != "assistant"; i-- {
		var here []Part
		for _, p := range r.Messages[i].Content {
			if p.Type == "tool_result" {
				here = append(here, p)
			}
		}
		out = append(here, out...)
	}
	return out
}

// UserText is all text of the user's messages, reminders of the client
// included, tool results not.
func (r *Request) UserText() string {
	var b strings.Builder
	for _, m := range r.Messages {
		if m.Role != "user" {
			continue
		}
		for _, p := range m.Content {
			if p.Type == "text" {
				b.WriteString(p.Text)
				b.WriteByte('\n')
			}
		}
	}
	return b.String()
}

// SystemText is the system prompt's text.
func (r *Request) SystemText() string {
	var c Content
	if json.Unmarshal(r.System, &c) != nil {
		return ""
	}
	var b strings.Builder
	for _, p := range c {
		b.WriteString(p.Text)
		b.WriteByte('\n')
	}
	return b.String()
}

// ToolNames are the names of the tools offered, in order.
func (r *Request) ToolNames() []string {
	var out []string
	for _, t := range r.Tools {
		out = append(out, t.Name)
	}
	return out
}
