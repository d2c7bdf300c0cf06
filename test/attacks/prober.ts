/**
 * Asks a server again and again, and writes a JSON line for each answer. A process of its own, which a test's work does
 * not delay. Arguments: the URL, the ID of the process that answers, and a file to flush beside each question, as a
 * commit of that process flushes one.
 */
import { open } from "node:fs/promises";
import { startStopwatch } from "./stopwatch";

/**
 * `ms`: how long the answer took without the time that a process waited for a core. `flushMs`: how long the disk took.
 * Null: refused.
 */
export type ProbeLine = { ms: number | null; flushMs: number };

const PROBE_EVERY_MS = 25;
const REPORT_PENDING_EVERY_MS = 100;

async function probe(url: string, pid: number, path: string): Promise<never> {
  const file = await open(path, "w");
  const write = (line: ProbeLine) => process.stdout.write(`${JSON.stringify(line)}\n`);
  for (;;) {
    const started = performance.now();
    const tookMs = startStopwatch(pid);
    let flushMs = 0;
    const pending = setInterval(() => write({ ms: tookMs(), flushMs }), REPORT_PENDING_EVERY_MS);
    const flush = async () => {
      await file.write("x", 0);
      await file.sync();
      flushMs = performance.now() - started;
    };
    const ask = async () => {
      const isAnswered = await fetch(url, { keepalive: false }).then(
        (answer) => answer.ok,
        () => false,
      );
      return isAnswered ? tookMs() : null;
    };
    const [ms] = await Promise.all([ask(), flush()]);
    clearInterval(pending);
    write({ ms, flushMs });
    await Bun.sleep(PROBE_EVERY_MS);
  }
}

if (import.meta.main) {
  const [url, pid, path] = process.argv.slice(2);
  await probe(url!, Number(pid), path!);
}
