// Package mcpserver serves the engine's five calls over the Model Context
// Protocol on stdio. It is the only importer of the SDK, and knows no more
// than schemas, annotations and how to read lenient arguments.
//
//	err := mcpserver.Serve(ctx, eng, mcpserver.Options{Version: "0.1.0"})
package mcpserver

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"runtime/debug"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"flowplan/internal/engine"
)

// Options say how a server presents itself.
type Options struct {
	Version string
	Log     *slog.Logger
}

// instructions reach the main agent alone; what sub-agents need is in the
// tools' descriptions.
const instructions = `Functions as control- or data-flow graphs, and edits checked against planned graph deltas. flow_of; flow_plan before editing; edit; flow_verify: stop on pass.`

// tool is one of the five.
type tool struct {
	name, description string
	readOnly          bool
	schema            *jsonschema.Schema
	call              func(ctx context.Context, args arguments) (engine.Reply, error)
}

func tools(e *engine.Engine) []tool {
	return []tool{
		{"flow_of", "Shows functions as graphs, in place of reading files: one line a statement, T:/F:/-> where control goes elsewhere. function: name, Class.method, path:name, path:line, a class, a file, several, or a whole traceback.", true,
			object(map[string]*jsonschema.Schema{
				"function": {Description: "one, or several"},
				"view":     {Type: "string", Enum: []any{"cfg", "dfg"}},
				"focus":    {Type: "integer", Description: "line: only what leads to or from it"},
				"detail":   {Type: "string", Enum: []any{"auto", "full"}},
			}, "function"),
			func(ctx context.Context, a arguments) (engine.Reply, error) {
				focus, err := a.integer("focus")
				if err != nil {
					return engine.Reply{}, err
				}
				return e.Of(ctx, engine.OfParams{Function: a.list("function"), View: a.text("view"), Focus: focus, Detail: a.text("detail"), Root: a.text("root")})
			}},
		{"flow_locate", "Pins the fault in a function: a line, an edge 264->270, a def-use pair x@258->261, or a piece of a statement. Optional.", false,
			object(map[string]*jsonschema.Schema{
				"function": {Type: "string"},
				"site":     {Type: "string"},
			}, "function", "site"),
			func(ctx context.Context, a arguments) (engine.Reply, error) {
				return e.Locate(ctx, engine.LocateParams{Function: a.text("function"), Site: a.text("site"), Root: a.text("root")})
			}},
		{"flow_plan", "Records the repair before the edit: for every function to be changed, deltas {function, op, line, condition?}. op: add_/remove_ guard|branch|loop|handler, change_condition|handler|block|signature, rewire_edge, no_flow_change, add_/remove_/move_ def_use, add_/remove_/rename_ function (to). New functions need none. Planning a function again replaces its mismatched deltas.", false,
			object(map[string]*jsonschema.Schema{
				"deltas": {Type: "array", Items: &jsonschema.Schema{Type: "object"}},
				"fresh":  {Type: "boolean", Description: "begin a new plan"},
			}, "deltas"),
			func(ctx context.Context, a arguments) (engine.Reply, error) {
				return e.Plan(ctx, engine.PlanParams{Deltas: a.raw["deltas"], Fresh: a.boolean("fresh"), Root: a.text("root")})
			}},
		{"flow_check", "Between edits of a longer plan: grades its deltas (exact, same_family, mismatch, unknown) for one function or all.", true,
			object(map[string]*jsonschema.Schema{"function": {Type: "string"}}),
			func(ctx context.Context, a arguments) (engine.Reply, error) {
				return e.Check(ctx, engine.CheckParams{Function: a.text("function"), Root: a.text("root")})
			}},
		{"flow_verify", "After the edit: grades the whole plan and looks for unplanned changes. pass: stop. review: stop if it was meant. fail: mend the one thing named.", true,
			object(map[string]*jsonschema.Schema{}),
			func(ctx context.Context, a arguments) (engine.Reply, error) {
				return e.Verify(ctx, engine.VerifyParams{Root: a.text("root")})
			}},
	}
}

// object is a flat schema that refuses nothing: arguments are read leniently.
func object(props map[string]*jsonschema.Schema, required ...string) *jsonschema.Schema {
	props["root"] = &jsonschema.Schema{Type: "string", Description: "worktree, if another"}
	return &jsonschema.Schema{Type: "object", Properties: props, Required: required}
}

// New makes the server with its five tools.
func New(e *engine.Engine, o Options) *mcp.Server {
	if o.Log == nil {
		o.Log = slog.New(slog.NewTextHandler(io.Discard, nil))
	}
	s := mcp.NewServer(&mcp.Implementation{Name: "flowplan", Version: o.Version}, &mcp.ServerOptions{
		Instructions: instructions,
		Capabilities: &mcp.ServerCapabilities{Tools: &mcp.ToolCapabilities{}},
		Logger:       o.Log,
	})
	no := false
	for _, t := range tools(e) {
		s.AddTool(&mcp.Tool{
			Name: t.name, Description: t.description, InputSchema: t.schema,
			Annotations: &mcp.ToolAnnotations{ReadOnlyHint: t.readOnly, DestructiveHint: &no, OpenWorldHint: &no, IdempotentHint: t.readOnly},
			Meta:        mcp.Meta{"anthropic/alwaysLoad": true},
		}, handler(t, o.Log))
	}
	return s
}

// handler adapts a tool: errors become results that the model reads, and a
// panic is an error of its call alone.
func handler(t tool, log *slog.Logger) mcp.ToolHandler {
	return func(ctx context.Context, req *mcp.CallToolRequest) (res *mcp.CallToolResult, err error) {
		defer func() {
			if p := recover(); p != nil {
				log.Error("panic", "tool", t.name, "panic", p, "stack", string(debug.Stack()))
				res, err = failed(fmt.Sprintf("%s failed inside flowplan (%v); go on without it, or with another function", t.name, p)), nil
			}
		}()
		args, err := read(req.Params.Arguments, t.schema)
		if err != nil {
			return failed(err.Error()), nil
		}
		reply, err := t.call(ctx, args)
		if err != nil {
			if errors.Is(err, context.Canceled) {
				return nil, err
			}
			return failed(err.Error()), nil
		}
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: reply.Text + args.note()}}}, nil
	}
}

func failed(text string) *mcp.CallToolResult {
	return &mcp.CallToolResult{IsError: true, Content: []mcp.Content{&mcp.TextContent{Text: text}}}
}

// Serve answers on the transport until its end or until ctx ends.
func Serve(ctx context.Context, e *engine.Engine, transport mcp.Transport, o Options) error {
	s := New(e, o)
	s.AddReceivingMiddleware(func(next mcp.MethodHandler) mcp.MethodHandler {
		return func(call context.Context, method string, req mcp.Request) (mcp.Result, error) {
			call, cancel := context.WithCancel(call)
			defer cancel()
			defer context.AfterFunc(ctx, cancel)() // at SIGTERM the calls under way end too
			return next(call, method, req)
		}
	})
	err := s.Run(ctx, transport)
	if errors.Is(err, context.Canceled) || errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

// SchemaJSON is the tools/list entry of every tool, as clients are sent it.
func SchemaJSON(e *engine.Engine) ([]byte, error) {
	type entry struct {
		Name        string             `json:"name"`
		Description string             `json:"description"`
		InputSchema *jsonschema.Schema `json:"inputSchema"`
	}
	var out []entry
	for _, t := range tools(e) {
		out = append(out, entry{t.name, t.description, t.schema})
	}
	return json.Marshal(out)
}
