// pg-boss; best: its batches, and its shortest polling interval.
import PgBoss from "pg-boss";
import { BODY, main, tally } from "./contract.mjs";

async function started(dsn) {
  const boss = new PgBoss({ connectionString: dsn });
  boss.on("error", () => {});
  await boss.start();
  await boss.createQueue("bench");
  return boss;
}

await main({
  async install(dsn) {
    await started(dsn);
  },
  async send(dsn, messages, batch) {
    const boss = await started(dsn);
    return async () => {
      for (let sent = 0; sent < messages; sent += batch) {
        await boss.insert(Array.from({ length: batch }, () => ({ name: "bench", data: { body: BODY } })));
      }
    };
  },
  async work(dsn, best) {
    const boss = await started(dsn);
    if (!best) {
      await boss.work("bench", async (jobs) => tally.add(jobs.length));
      return () => boss.send("bench", { body: BODY });
    }
    // work() polls twice a second at most; its own fetch and complete in a loop are what its manual has for throughput.
    (async () => {
      for (;;) {
        const jobs = await boss.fetch("bench", { batchSize: 5000 });
        if (!jobs?.length) { await new Promise((done) => setTimeout(done, 5)); continue; }
        tally.add(jobs.length);
        await boss.complete("bench", jobs.map((job) => job.id));
      }
    })();
    return () => boss.send("bench", { body: BODY });
  },
});
