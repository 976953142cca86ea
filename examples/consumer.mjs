// A complete consumer with node-postgres: it receives in a transaction, records failures outside it, sleeps until a
// message comes, and ends after the message in hand when it gets SIGTERM or Ctrl-C. A second signal ends it at once.
//
//   npm install pg && node consumer.mjs QUEUE DSN [LISTEN-DSN]
//
// DSN may lead through PgBouncer in transaction mode. LISTEN-DSN leads to the server itself, for a pooler cannot pass
// notifications on. Without it the consumer looks at its queue every 250 ms.
import { setTimeout as pause } from "node:timers/promises";
import pg from "pg";

const LONGEST_SLEEP = 250; // ms; what was delayed or came back sends no notification
const ASK_AFTER = 16; // ms without a message, before the consumer asks to be woken
const ASK_EVERY = 500; // ms; a request holds for two seconds
const TRY_AGAIN = 1000; // ms, after a connection was lost

const [queue, dsn, listenDsn] = process.argv.slice(2);
if (!dsn) {
  console.error("usage: consumer.mjs QUEUE DSN [LISTEN-DSN]");
  process.exit(2);
}

// Your own work. What it writes on this connection is committed or rolled back together with the message.
// message.body has a text or JSON; of a message in bytes it is null, and message.bytes is a Buffer.
async function handle(connection, message) {
  await connection.query("insert into brewed (item) values ($1)", [message.body]);
  if (message.body === "fail") throw new TypeError("this message cannot be handled");
  console.log(`handled ${message.body}`);
}

let stopping = false;
for (const signal of ["SIGTERM", "SIGINT"]) {
  process.once(signal, () => {
    stopping = true;
    console.log("stopping");
  });
}

async function main() {
  while (!stopping) {
    const connection = new pg.Client(dsn);
    connection.on("error", () => {}); // the next query fails, which is enough
    try {
      await connection.connect();
      await consumeAll(connection);
      await connection.end();
    } catch (error) {
      console.error(`trying again: ${error.message}`);
      await connection.end().catch(() => {});
      await pause(TRY_AGAIN);
    }
  }
}

async function consumeAll(connection) {
  let sleep = 1;
  while (!stopping) {
    if (await consumed(connection)) {
      sleep = 1;
      continue;
    }
    // After a request one more look: a message may have come before it.
    if (sleep >= ASK_AFTER && (await listening()) && (await ask(connection))) continue;
    await sleepUntilWoken(asked?.unsettled ? Math.min(sleep, 10) : sleep);
    sleep = Math.min(sleep * 2, LONGEST_SLEEP);
  }
}

// Receive one message and handle it. Returns false if there is none.
async function consumed(connection) {
  let message;
  try {
    await connection.query("begin");
    const received = await connection.query(
      "select message_id, priority, position, body, bytes from howdah.receive($1, 1)",
      [queue],
    );
    message = received.rows[0];
    if (message) await handle(connection, message);
    await connection.query("commit");
  } catch (error) {
    await connection.query("rollback");
    if (!message || blameless(error)) throw error;
    await recordFailure(connection, message, error);
  }
  return message !== undefined;
}

// A lost connection, a deadlock, a lock in use, a full disk, a server that stops: no message caused these.
const blameless = (error) =>
  error instanceof pg.DatabaseError && /^(08|40|53|55P03|57P0|58|HD040|XX00[12])/.test(error.code ?? "");

// In a transaction of its own, after the rollback, which would take the record back.
async function recordFailure(connection, message, error) {
  const recorded = await connection.query(
    `select outcome from howdah.record_failure($1, $2, error_text => $3, error_class => $4, priority => $5,
       "position" => $6)`,
    [queue, message.message_id, error.message, error.constructor.name, message.priority, message.position],
  );
  console.log(`failed ${message.body}: ${recorded.rows[0].outcome}`);
}

let listener = null;
let listenAgain = 0;
let asked = null; // since, payloads, unsettled, at
let wake = () => {};

// Whether notifications arrive. After a lost connection it tries again every second.
async function listening() {
  if (!listenDsn || listener || Date.now() < listenAgain) return listener !== null;
  const made = new pg.Client(listenDsn);
  const lost = () => {
    if (listener === made) listener = null;
    asked = null;
    listenAgain = Date.now() + TRY_AGAIN;
    made.end().catch(() => {});
  };
  made.on("error", lost);
  made.on("end", () => { listener = listener === made ? null : listener; });
  made.on("notification", ({ payload }) => {
    if (asked?.payloads.includes(payload)) wake();
  });
  try {
    await made.connect();
    await made.query("listen howdah");
    listener = made;
  } catch {
    lost();
  }
  return listener !== null;
}

// Ask senders for notifications. Returns false if the last request still holds.
async function ask(connection) {
  const now = Date.now();
  if (asked && now - asked.at < (asked.unsettled ? 100 : ASK_EVERY)) return false;
  const { rows } = await connection.query(
    "select since, payload, unsettled from howdah.wait($1, $2)",
    [queue, asked?.since ?? null],
  );
  asked = { since: rows[0].since, payloads: rows[0].payload.split(","), unsettled: rows[0].unsettled, at: now };
  return true;
}

// Sleep for so many milliseconds, or until a notification of this queue comes.
async function sleepUntilWoken(longest) {
  const stop = new AbortController();
  wake = () => {
    console.log("woken");
    stop.abort();
  };
  await pause(longest, null, { signal: stop.signal }).catch(() => {});
  wake = () => {};
}

await main();
await listener?.end();
console.log("stopped");
