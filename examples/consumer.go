// A complete consumer with pgx: it receives in a transaction, records failures outside it, sleeps until a message
// comes, and ends after the message in hand when it gets SIGTERM or Ctrl-C. A second signal ends it at once.
//
//	go mod init consumer && go get github.com/jackc/pgx/v5
//	go run consumer.go QUEUE DSN [LISTEN-DSN]
//
// DSN may lead through PgBouncer in transaction mode (unless that tracks prepared statements add
// default_query_exec_mode=exec with pgx 5, statement_cache_capacity=0 with pgx 4). LISTEN-DSN leads to the server
// itself, for a pooler cannot pass notifications on. Without it the consumer looks at its queue every 250 ms.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"regexp"
	"strings"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

const (
	longestSleep = 250 * time.Millisecond // what was delayed or came back sends no notification
	askAfter     = 16 * time.Millisecond  // without a message, before the consumer asks to be woken
	askEvery     = 500 * time.Millisecond // a request holds for two seconds
	tryAgain     = time.Second            // after a connection was lost
)

type message struct {
	id       int64
	priority int16
	position int64
	body     string // a text or JSON
	bytes    []byte // nil, unless the message is in bytes
}

type asked struct {
	since     *int64
	payloads  string
	unsettled bool
	at        time.Time
}

type consumer struct {
	queue, dsn, listenDSN string
	listener              *pgx.Conn
	listenAgain           time.Time
	asked                 asked
}

// handle is your own work. What it writes in the transaction is committed or rolled back together with the message.
func handle(ctx context.Context, tx pgx.Tx, m *message) error {
	if _, err := tx.Exec(ctx, "insert into brewed (item) values ($1)", m.body); err != nil {
		return err
	}
	if m.body == "fail" {
		return errors.New("this message cannot be handled")
	}
	fmt.Println("handled", m.body)
	return nil
}

// handled makes a panic of your work a failure like others, and not the end of the program.
func handled(ctx context.Context, tx pgx.Tx, m *message) (err error) {
	defer func() {
		if panicked := recover(); panicked != nil {
			err = fmt.Errorf("panic: %v", panicked)
		}
	}()
	return handle(ctx, tx, m)
}

func main() {
	if len(os.Args) < 3 {
		fmt.Fprintln(os.Stderr, "usage: consumer QUEUE DSN [LISTEN-DSN]")
		os.Exit(2)
	}
	c := consumer{queue: os.Args[1], dsn: os.Args[2]}
	if len(os.Args) > 3 {
		c.listenDSN = os.Args[3]
	}
	// The signal ends loops and sleeps, never a statement: the message in hand is committed.
	stopping, restore := signal.NotifyContext(context.Background(), syscall.SIGTERM, os.Interrupt)
	go func() {
		<-stopping.Done()
		restore()
		fmt.Println("stopping")
	}()
	for stopping.Err() == nil {
		if err := c.consumeAll(context.Background(), stopping); err != nil {
			fmt.Fprintln(os.Stderr, "trying again:", err)
			time.Sleep(tryAgain)
		}
	}
	fmt.Println("stopped")
}

func (c *consumer) consumeAll(ctx, stopping context.Context) error {
	conn, err := pgx.Connect(ctx, c.dsn)
	if err != nil {
		return err
	}
	defer conn.Close(ctx)
	for sleep := time.Millisecond; stopping.Err() == nil; {
		if found, err := c.consumed(ctx, conn); err != nil {
			return err
		} else if found {
			sleep = time.Millisecond
			continue
		}
		if sleep >= askAfter && c.listening(ctx) {
			if made, err := c.ask(ctx, conn); err != nil {
				return err
			} else if made {
				continue // one more look: a message may have come before the request
			}
		}
		if c.asked.unsettled && sleep > 10*time.Millisecond {
			sleep = 10 * time.Millisecond
		}
		c.sleep(ctx, sleep)
		if sleep *= 2; sleep > longestSleep {
			sleep = longestSleep
		}
	}
	return nil
}

// consumed receives one message and handles it. It returns false if there is none.
func (c *consumer) consumed(ctx context.Context, conn *pgx.Conn) (bool, error) {
	tx, err := conn.Begin(ctx)
	if err != nil {
		return false, err
	}
	defer tx.Rollback(ctx)
	var m message
	err = tx.QueryRow(ctx, `select message_id, priority, position, coalesce(body, ''), bytes
		from howdah.receive($1, 1)`, c.queue).Scan(&m.id, &m.priority, &m.position, &m.body, &m.bytes)
	if errors.Is(err, pgx.ErrNoRows) {
		return false, tx.Commit(ctx)
	}
	if err != nil {
		return false, err
	}
	if err = handled(ctx, tx, &m); err == nil {
		if err = tx.Commit(ctx); err == nil {
			return true, nil
		}
	}
	if failed := tx.Rollback(ctx); failed != nil && !errors.Is(failed, pgx.ErrTxClosed) {
		return false, failed
	}
	if blameless(err) {
		return false, err
	}
	return true, c.recordFailure(ctx, conn, &m, err)
}

var class = regexp.MustCompile("^(08|40|53|55P03|57P0|58|HD040|XX00[12])")

// blameless: a lost connection, a deadlock, a lock in use, a full disk, a server that stops: no message caused these.
func blameless(err error) bool {
	var server *pgconn.PgError
	return errors.As(err, &server) && class.MatchString(server.Code)
}

// recordFailure runs in a transaction of its own, after the rollback, which would take the record back.
func (c *consumer) recordFailure(ctx context.Context, conn *pgx.Conn, m *message, cause error) error {
	var outcome string
	err := conn.QueryRow(ctx, `select outcome from howdah.record_failure($1, $2, error_text => $3, error_class => $4,
		priority => $5, "position" => $6)`,
		c.queue, m.id, cause.Error(), fmt.Sprintf("%T", cause), int32(m.priority), m.position).Scan(&outcome)
	if err == nil {
		fmt.Printf("failed %s: %s\n", m.body, outcome)
	}
	return err
}

// listening tells whether notifications arrive. After a lost connection it tries again every second.
func (c *consumer) listening(ctx context.Context) bool {
	if c.listenDSN == "" || c.listener != nil || time.Now().Before(c.listenAgain) {
		return c.listener != nil
	}
	made, err := pgx.Connect(ctx, c.listenDSN)
	if err == nil {
		c.listener = made
		_, err = made.Exec(ctx, "listen howdah")
	}
	if err != nil {
		c.notListening(ctx)
	}
	return c.listener != nil
}

func (c *consumer) notListening(ctx context.Context) {
	if c.listener != nil {
		c.listener.Close(ctx)
	}
	c.listener, c.asked, c.listenAgain = nil, asked{}, time.Now().Add(tryAgain)
}

// ask asks senders for notifications. It returns false if the last request still holds.
func (c *consumer) ask(ctx context.Context, conn *pgx.Conn) (bool, error) {
	holds := askEvery
	if c.asked.unsettled {
		holds = 100 * time.Millisecond
	}
	if time.Since(c.asked.at) < holds {
		return false, nil
	}
	made := asked{at: time.Now()}
	err := conn.QueryRow(ctx, "select since, payload, unsettled from howdah.wait($1, $2)", c.queue, c.asked.since).
		Scan(&made.since, &made.payloads, &made.unsettled)
	if err == nil {
		c.asked = made
	}
	return true, err
}

// sleep for so long, or until a notification of this queue comes.
func (c *consumer) sleep(ctx context.Context, longest time.Duration) {
	if c.listener == nil {
		time.Sleep(longest)
		return
	}
	until, cancel := context.WithTimeout(ctx, longest)
	defer cancel()
	for {
		came, err := c.listener.WaitForNotification(until)
		switch {
		case until.Err() != nil:
			return
		case err != nil:
			c.notListening(ctx)
			return
		case strings.Contains(","+c.asked.payloads+",", ","+came.Payload+","):
			fmt.Println("woken")
			return
		}
	}
}
