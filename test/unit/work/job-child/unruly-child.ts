/** A job's child process that misbehaves as its argument says. */

import { AppError } from "../../../../src/domain/errors";
import { serveCalls } from "../../../../src/lib/ipc-calls";
import { jobErrorCodec } from "../../../../src/work/job-child/error-codec";

const held: Uint8Array[] = [];

const BEHAVIORS: Record<string, () => unknown> = {
  allocate: () => {
    for (;;) held.push(new Uint8Array(16 * 1024 ** 2).fill(1));
  },
  spin: () => {
    for (;;);
  },
  sleep: () => new Promise(() => setInterval(() => {}, 1_000)),
  "be killed": () => process.kill(process.pid, "SIGKILL"),
  crash: () => process.kill(process.pid, "SIGSEGV"),
  exit: () => process.exit(3),
  babble: () => process.stdout.write("this is no frame at all"),
  fail: () => {
    throw new AppError("unsupported_media", "no such codec", { cause: new Error("the cause") });
  },
};

const behave = async () => BEHAVIORS[process.argv[2]!]!();
const output = Bun.stdout.writer();
await serveCalls({
  input: Bun.stdin.stream(),
  send: (frame) => {
    output.write(frame);
    void output.flush();
  },
  operations: new Proxy({}, { get: () => behave }),
  errors: jobErrorCodec,
});
