// Package loopback is a model that is no model: a server on 127.0.0.1 that
// answers Claude Code's requests from a script and keeps what it was sent. The
// end-to-end tests assert from those request bodies, and setup reads from the
// first one which tools the installed client has.
//
//	s, err := loopback.Start(loopback.Steps{{loopback.Text("done")}})
//	defer s.Close()
//	cmd.Env = append(cmd.Env, s.Env()...)
package loopback

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
)

// Block is one content block of a response: text, or the use of a tool.
type Block struct {
	Text  string
	Tool  string
	Input any
}

// Text is a block of text.
func Text(s string) Block { return Block{Text: s} }

// Use is a block that uses a tool.
func Use(tool string, input any) Block { return Block{Tool: tool, Input: input} }

// Step is one response of the model.
type Step []Block

// Script chooses the response to a request.
type Script interface {
	// Next is the response to the request; n counts the responses that the
	// conversation already holds.
	Next(r *Request, n int) Step
}

// Steps answers a conversation's n-th request with its n-th step, and whatever
// comes after the last with a word of text.
type Steps []Step

// Next implements Script.
func (s Steps) Next(_ *Request, n int) Step {
	if n < len(s) {
		return s[n]
	}
	return Step{Text("done")}
}

// Func is a function as a Script.
type Func func(r *Request, n int) Step

// Next implements Script.
func (f Func) Next(r *Request, n int) Step { return f(r, n) }

// Server is a running loopback server.
type Server struct {
	script   Script
	http     *http.Server
	addr     string
	mu       sync.Mutex
	requests []*Request
	other    []string
	served   sync.WaitGroup
}

// Start listens on a free port of 127.0.0.1.
func Start(script Script) (*Server, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("no port on 127.0.0.1 for the scripted model: %w", err)
	}
	s := &Server{script: script, addr: l.Addr().String()}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/messages", s.messages)
	mux.HandleFunc("POST /v1/messages/count_tokens", s.count)
	mux.HandleFunc("/", s.refuse)
	s.http = &http.Server{Handler: mux}
	s.served.Go(func() { _ = s.http.Serve(l) }) // always ErrServerClosed, from Close
	return s, nil
}

// Close ends the server and the requests under way.
func (s *Server) Close() {
	_ = s.http.Close()
	s.served.Wait()
}

// URL is where the server listens.
func (s *Server) URL() string { return "http://" + s.addr }

// Env is what makes the client talk to this server and to nobody else: it is its
// own proxy, refuses what would leave the machine, and Other lists it.
func (s *Server) Env() []string {
	return []string{
		"ANTHROPIC_BASE_URL=" + s.URL(),
		"ANTHROPIC_API_KEY=sk-ant-api03-loopback-not-a-key",
		"DISABLE_AUTOUPDATER=1",
		"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1",
		"DISABLE_TELEMETRY=1",
		"DISABLE_ERROR_REPORTING=1",
		"MCP_CONNECTION_NONBLOCKING=0",
		"CLAUDE_CODE_MAX_RETRIES=0", // a mistake in a script is to be seen at once
		"HTTPS_PROXY=" + s.URL(),
		"HTTP_PROXY=" + s.URL(),
		"NO_PROXY=127.0.0.1",
	}
}

// Requests are the messages requests so far, in the order they came.
func (s *Server) Requests() []*Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]*Request(nil), s.requests...)
}

// Other are the other requests so far, as "METHOD path".
func (s *Server) Other() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string(nil), s.other...)
}

func (s *Server) refuse(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	s.other = append(s.other, r.Method+" "+r.URL.Path)
	s.mu.Unlock()
	http.Error(w, `{"type":"error","error":{"type":"not_found_error","message":"not scripted"}}`, http.StatusNotFound)
}

func (s *Server) count(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the client went away
	}
	w.Header().Set("Content-Type", "application/json")
	fmt.Fprintf(w, `{"input_tokens":%d}`, len(body)/4)
}

func (s *Server) messages(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the client went away
	}
	req := &Request{Raw: body}
	if err := json.Unmarshal(body, req); err != nil {
		http.Error(w, `{"type":"error","error":{"type":"invalid_request_error","message":"not JSON"}}`, http.StatusBadRequest)
		return
	}
	n := 0
	for _, m := range req.Messages {
		if m.Role == "assistant" {
			n++
		}
	}
	s.mu.Lock()
	s.requests = append(s.requests, req)
	id := len(s.requests)
	s.mu.Unlock()
	step := s.script.Next(req, n)
	if req.Stream {
		stream(w, req.Model, id, step)
	} else {
		whole(w, req.Model, id, step)
	}
}

// content is a step as the API writes it.
func content(id int, step Step) (blocks []map[string]any, stop string) {
	stop = "end_turn"
	for i, b := range step {
		if b.Tool == "" {
			blocks = append(blocks, map[string]any{"type": "text", "text": b.Text})
			continue
		}
		stop = "tool_use"
		blocks = append(blocks, map[string]any{"type": "tool_use", "id": fmt.Sprintf("toolu_%d_%d", id, i), "name": b.Tool, "input": b.Input})
	}
	return blocks, stop
}

func message(model string, id int) map[string]any {
	return map[string]any{"id": fmt.Sprintf("msg_%d", id), "type": "message", "role": "assistant", "model": model,
		"content": []any{}, "stop_reason": nil, "stop_sequence": nil, "usage": map[string]any{"input_tokens": 1, "output_tokens": 1}}
}

func whole(w http.ResponseWriter, model string, id int, step Step) {
	m := message(model, id)
	m["content"], m["stop_reason"] = content(id, step)
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(m) // the client went away
}

// stream sends the step as server-sent events.
func stream(w http.ResponseWriter, model string, id int, step Step) {
	w.Header().Set("Content-Type", "text/event-stream")
	var b strings.Builder
	send := func(kind string, fields map[string]any) {
		fields["type"] = kind
		raw, err := json.Marshal(fields)
		if err != nil {
			panic(err) // a script that is no JSON is a mistake in the test
		}
		fmt.Fprintf(&b, "event: %s\ndata: %s\n\n", kind, raw)
	}
	send("message_start", map[string]any{"message": message(model, id)})
	blocks, stop := content(id, step)
	for i, block := range blocks {
		start, delta := map[string]any{"type": "text", "text": ""}, map[string]any{"type": "text_delta", "text": block["text"]}
		if block["type"] == "tool_use" {
			input, err := json.Marshal(block["input"])
			if err != nil {
				panic(err) // as above
			}
			start = map[string]any{"type": "tool_use", "id": block["id"], "name": block["name"], "input": map[string]any{}}
			delta = map[string]any{"type": "input_json_delta", "partial_json": string(input)}
		}
		send("content_block_start", map[string]any{"index": i, "content_block": start})
		send("content_block_delta", map[string]any{"index": i, "delta": delta})
		send("content_block_stop", map[string]any{"index": i})
	}
	send("message_delta", map[string]any{"delta": map[string]any{"stop_reason": stop, "stop_sequence": nil}, "usage": map[string]any{"output_tokens": 1}})
	send("message_stop", map[string]any{})
	_, _ = io.WriteString(w, b.String()) // the client went away
}
