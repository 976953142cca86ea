// What the Node peers share: see contract.py, whose twin this is.

export const BODY = "x".repeat(64);
const QUIET = { best: 2000, default: 6000 }, FIRST = 20000, LIMIT = 12000, APART = [5, 30];

export const sleep = (ms) => new Promise((done) => setTimeout(done, ms));
const now = () => performance.timeOrigin + performance.now();

export const tally = {
  count: 0, first: 0, last: 0, arrival: null,
  add(messages = 1) {
    this.last = now();
    if (!this.count) this.first = this.last;
    this.count += messages;
    this.arrival?.();
  },
};

function print(line) {
  process.stdout.write(JSON.stringify(line) + "\n", () => process.exit(0));
}

async function quiet(expected, ms) {
  const started = now();
  const end = () => (tally.count ? Math.min(tally.last + ms, tally.first + LIMIT) : started + FIRST);
  while (tally.count < expected && now() < end()) await sleep(50);
}

async function latency(sendOne, samples) {
  const taken = [];
  await sleep(1500);
  for (let number = 0; number < samples + 3; number++) {
    await sleep(APART[0] + Math.random() * (APART[1] - APART[0]));
    const arrived = new Promise((done) => { tally.arrival = done; });
    const started = now();
    await sendOne();
    await arrived;
    taken.push(tally.last - started);
  }
  return taken.slice(3);
}

// peer: install(dsn), send(dsn, messages, batch), work(dsn, best) which returns what sends one message
export async function main(peer) {
  const [command, ...words] = process.argv.slice(2);
  const dsn = process.env.BENCH_DSN;
  if (command === "install") { await peer.install(dsn); return print({}); }
  if (command === "send") {
    const send = await peer.send(dsn, Number(words[0]), Number(words[1]));
    const started = now();
    await send();
    return print({ seconds: (now() - started) / 1000 });
  }
  const sendOne = await peer.work(dsn, command === "latency" || words[0] === "best");
  let ms = [];
  if (command === "work") await quiet(Number(words[1]), QUIET[words[0]]); else ms = await latency(sendOne, Number(words[0]));
  print({ count: tally.count, first: tally.first / 1000, last: tally.last / 1000, ms });
}
