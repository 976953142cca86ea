// graphile-worker; best: local queue and batched completion, as its page on performance says; more of both was faster here.
import { Logger, makeWorkerUtils, run, runMigrations } from "graphile-worker";
import { BODY, main, tally } from "./contract.mjs";

const logger = new Logger(() => () => {});
const BEST = { concurrentJobs: 100, maxPoolSize: 25, localQueue: { size: 2000 }, completeJobBatchDelay: 0, failJobBatchDelay: 0 };

await main({
  async install(dsn) {
    await runMigrations({ connectionString: dsn, logger });
  },
  async send(dsn, messages, batch) {
    const utils = await makeWorkerUtils({ connectionString: dsn, logger });
    const jobs = Array.from({ length: batch }, () => ({ identifier: "noop", payload: { body: BODY } }));
    return async () => {
      for (let sent = 0; sent < messages; sent += batch) await utils.addJobs(jobs);
    };
  },
  async work(dsn, best) {
    const runner = await run({
      connectionString: dsn, logger, noHandleSignals: true,
      taskList: { noop: async () => tally.add() },
      ...(best ? { preset: { worker: BEST }, concurrency: BEST.concurrentJobs } : {}),
    });
    return () => runner.addJob("noop", { body: BODY });
  },
});
