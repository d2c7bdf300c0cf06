/**
 * Hostile media files against the compiled server: each ends `ready` or `failed` with a code of the contract, the
 * server stays up, and nothing but the file itself is read. `OFFCUT_FULL=1` tries all 400 instead of 40; `OFFCUT_SEED`
 * makes other ones, `OFFCUT_HOSTILE_ONLY` tries those whose name contains it.
 */
import { expect, test } from "bun:test";
import { join } from "node:path";
import { isFullSize } from "../full-size";
import { temporaryFolder } from "../temporary-folder";
import { type AttackedServer, startAttackedServer } from "./attacked-server";
import { type Attempt, attempt, type WrittenFile } from "./hostile-files/attempt";
import { filesWith, makeCanary, plantCanaries } from "./hostile-files/canaries";
import { writeFiles } from "./hostile-files/write-files";

const SEED = Number(process.env.OFFCUT_SEED ?? 10);
const ONLY = process.env.OFFCUT_HOSTILE_ONLY;
const FEW = 28;
const AT_ONCE = 4;
const PATIENCE_SECONDS = 120;
const MAX_PROBE_MS = 1_000;
const WATCH_EVERY_MS = 100;
const FROZEN_MS = 10_000;
/** Every n-th file that becomes ready is also cut and rendered. */
const RENDERED_EVERY = ONLY ? 1 : isFullSize ? 4 : 8;
const TOKEN = "canary-5b8e0f6a-93d1";

test(
  `hostile files, seed ${SEED}`,
  async () => {
    await using outside = await temporaryFolder();
    const canary = join(outside.path, "canary.mp4");
    await makeCanary(canary, TOKEN);
    await using server = await startAttackedServer({ MAX_DURATION_SECONDS: "3600" }, "system");
    const neighbour = await server.user();
    const upload = await neighbour.ready(await Bun.file(canary).bytes());
    const theirs = join(server.data, "media", upload.id, "source");
    const canaries = await plantCanaries([canary, theirs], TOKEN, server.folder);

    const written = await writeFiles({
      folder: outside.path,
      targets: canaries.targets,
      seed: SEED,
      choice: ONLY ? { only: ONLY } : isFullSize ? "all" : { few: FEW },
    });
    let ready = 0;
    const goesOn = () => ready++ % RENDERED_EVERY === 0;
    const secrets = [server.folder, outside.path, upload.id, TOKEN];
    const trying = tryAll(written, async () => {
      const client = await server.user(1_000_000, PATIENCE_SECONDS);
      return (file) => attempt(client, file, { goesOn, secrets });
    });
    const attempts = await unlessHarmed(server, trying);

    const problems = attempts.filter(({ problem }) => problem !== null);
    if (isFullSize || problems.length > 0) console.log(report(attempts));
    expect(problems).toEqual([]);
    expect(server.log().filter((line) => line.level === "error")).toEqual([]);
    expect(await canaries.read()).toEqual([]);
    const known = await filesWith(join(server.data, "media", upload.id), TOKEN);
    expect((await filesWith(join(server.data), TOKEN)).filter((path) => !known.includes(path))).toEqual([]);
    server.expectUnharmed({ maxProbeMs: MAX_PROBE_MS });
  },
  isFullSize ? 7_200_000 : 180_000,
);

/** Resolves as `trying` does; rejects once the server is so harmed that waiting is in vain. */
async function unlessHarmed<T>(server: AttackedServer, trying: Promise<T>): Promise<T> {
  let isOver = false;
  const ended = trying.finally(() => {
    isOver = true;
  });
  const watching = async () => {
    while (!isOver) {
      server.expectUnharmed({ maxProbeMs: FROZEN_MS });
      await Bun.sleep(WATCH_EVERY_MS);
    }
    return await ended;
  };
  return await Promise.race([ended, watching()]);
}

/** Tries the files, a few users at the same time, each one file after the other. */
async function tryAll(
  files: readonly WrittenFile[],
  signUp: () => Promise<(file: WrittenFile) => Promise<Attempt>>,
): Promise<Attempt[]> {
  const left = [...files];
  const users = await Promise.all(Array.from({ length: AT_ONCE }, signUp));
  const attempts = await Promise.all(
    users.map(async (tryFile) => {
      const mine: Attempt[] = [];
      for (let file = left.shift(); file !== undefined; file = left.shift()) {
        const done = await tryFile(file);
        if (isFullSize) console.log(lineOf(done));
        mine.push(done);
      }
      return mine;
    }),
  );
  return attempts.flat();
}

const lineOf = ({ seconds, state, code, name, problem }: Attempt) =>
  `${seconds.toFixed(1).padStart(6)} s  ${(code ?? state).padEnd(22)} ${name}${problem === null ? "" : `  <-- ${problem}`}`;

/** The slowest first, and how all of them ended. */
function report(attempts: readonly Attempt[]): string {
  const slowest = attempts.toSorted((a, b) => b.seconds - a.seconds);
  const count = (key: string) => attempts.filter(({ code, state }) => (code ?? state) === key).length;
  const ends = [...new Set(attempts.map(({ code, state }) => code ?? state))].map((key) => `${key} ${count(key)}`);
  return [...slowest.map(lineOf), ends.join(", ")].join("\n");
}
