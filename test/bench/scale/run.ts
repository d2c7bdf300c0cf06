/**
 * Measures one head with workers, and computes how many workers it can serve: `bun test/bench/scale/run.ts
 * [queue|operations|overhead|transfer]…`. Everything runs on this machine; network limits are computed for the given
 * link. Needs `dist/offcut`, `redis-server` and `ffmpeg`.
 */
import { availableParallelism } from "node:os";
import { countOperations } from "./operations";
import { measureQueue } from "./queue";
import { measureOverhead, measureTransfer } from "./transfer";

const LINK_MEGABYTES = 125;
const HOURS_A_DAY = 10_000;
const PARTS = {
  operations: async () => {
    const { redisCommands, commits, queries, idleRedisCommands, idleQueries } = await countOperations();
    print("commands of Redis per render step", redisCommands);
    print("commits of the database per render step", commits);
    print("queries of the database per render step", queries);
    print("commands of Redis per second and idle worker", idleRedisCommands);
    print("queries of the database per second and idle worker", idleQueries);
  },
  queue: async () => {
    const figures = await measureQueue();
    const { newStepMs, nextStepMs } = figures;
    const waiting = `${figures.waiting} waiting steps`;
    print(`new step to its start, ${waiting}, p50`, newStepMs.p50, "ms");
    print(`new step to its start, ${waiting}, p99`, newStepMs.p99, "ms");
    print(`free slot to the next start, ${waiting}, p50`, nextStepMs.p50, "ms");
    print(`free slot to the next start, ${waiting}, p99`, nextStepMs.p99, "ms");
    print("steps started per second", figures.stepsPerSecond);
    print(`Redis, ${waiting}`, figures.waitingBytes / 1e6, "MB");
    print(`Redis, ${figures.tickets} tickets`, figures.ticketBytes / 1e6, "MB");
  },
  overhead: async () => {
    const { local, remote, bytes } = await measureOverhead();
    print("render of 4 s on the head", local, "s");
    print("the same on a worker", remote, "s");
    print("difference", remote - local, "s");
    print("bytes of it to and from the worker", bytes / 1e6, "MB");
  },
  transfer: async () => {
    const { perMinute, renderSpeed, readMegabytes, writeMegabytes } = await measureTransfer();
    for (const [job, { sent, received }] of Object.entries(perMinute)) {
      print(`${job}: to the worker, per minute of 1080p at 8 Mbit/s`, sent, "MB");
      print(`${job}: from the worker`, received, "MB");
    }
    const all = Object.values(perMinute);
    const [sent, received] = [
      all.reduce((sum, one) => sum + one.sent, 0),
      all.reduce((sum, one) => sum + one.received, 0),
    ];
    print(`minutes rendered in a minute by a worker with ${availableParallelism()} shared cores`, renderSpeed);
    print("served by the head", readMegabytes, "MB/s");
    print("received and flushed by the head", writeMegabytes, "MB/s");
    const needed = (sent / 60) * renderSpeed;
    print("needed by such a worker", needed, "MB/s");
    print("workers until a link of 1 Gbit/s is full", LINK_MEGABYTES / needed);
    print("workers until the head cannot serve more", readMegabytes / needed);
    print("workers until the head cannot store more", writeMegabytes / ((received / 60) * renderSpeed));
    const minutesPerSecond = (HOURS_A_DAY * 60) / 86_400;
    print(`${HOURS_A_DAY} hours a day: workers`, minutesPerSecond * (60 / renderSpeed));
    print(`${HOURS_A_DAY} hours a day: from the head`, minutesPerSecond * sent, "MB/s");
    print(`${HOURS_A_DAY} hours a day: to the head`, minutesPerSecond * received, "MB/s");
    print(`${HOURS_A_DAY} hours a day: recordings`, (HOURS_A_DAY * 3600 * 1e6) / 1e12, "TB");
  },
};

function print(what: string, value: number, unit = ""): void {
  const digits = value >= 100 ? 0 : value >= 1 ? 1 : 3;
  console.log(`${what.padEnd(72)} ${value.toFixed(digits).padStart(9)} ${unit}`);
}

const chosen = process.argv.slice(2);
for (const [name, measure] of Object.entries(PARTS)) if (chosen.length === 0 || chosen.includes(name)) await measure();
process.exit();
