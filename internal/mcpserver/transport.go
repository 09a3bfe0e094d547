package mcpserver

import (
	"context"
	"errors"
	"io"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Stdio is the transport on standard input and output. At the end of input it
// holds the end back until every call that was read has been answered: the SDK
// drops answers that are not yet written then.
func Stdio() mcp.Transport {
	return &draining{inner: &mcp.StdioTransport{}, patience: 30 * time.Second}
}

type draining struct {
	inner    mcp.Transport
	patience time.Duration
}

func (d *draining) Connect(ctx context.Context) (mcp.Connection, error) {
	conn, err := d.inner.Connect(ctx)
	if err != nil {
		return nil, err
	}
	return &drainingConn{Connection: conn, patience: d.patience, idle: make(chan struct{}, 1)}, nil
}

type drainingConn struct {
	mcp.Connection
	patience time.Duration
	mu       sync.Mutex
	open     int           // calls read and not answered
	idle     chan struct{} // told when open falls to zero
}

func (c *drainingConn) Read(ctx context.Context) (jsonrpc.Message, error) {
	msg, err := c.Connection.Read(ctx)
	if errors.Is(err, io.EOF) {
		c.drain(ctx)
		return msg, err
	}
	if req, ok := msg.(*jsonrpc.Request); ok && req.IsCall() {
		c.mu.Lock()
		c.open++
		c.mu.Unlock()
	}
	return msg, err
}

func (c *drainingConn) drain(ctx context.Context) {
	deadline := time.After(c.patience)
	for {
		c.mu.Lock()
		open := c.open
		c.mu.Unlock()
		if open == 0 {
			return
		}
		select {
		case <-c.idle:
		case <-deadline:
			return
		case <-ctx.Done():
			return
		}
	}
}

func (c *drainingConn) Write(ctx context.Context, msg jsonrpc.Message) error {
	err := c.Connection.Write(ctx, msg)
	if _, ok := msg.(*jsonrpc.Response); ok {
		c.mu.Lock()
		c.open--
		c.mu.Unlock()
		select {
		case c.idle <- struct{}{}:
		default:
		}
	}
	return err
}
