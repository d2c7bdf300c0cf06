/**
 * Measures how much a user who opens many recordings delays another's render:
 * `bun test/bench/scale/opened.ts [RECORDINGS]` (default 50). Browsers cannot decode the recordings, so that each page
 * asks for encoded pieces and a preview. Alternates between renders alone and renders while the recordings are open,
 * and prints the ratios. That of CPU time is without the processes of this benchmark. Needs ffmpeg, `dist/offcut`, and
 * root for a control group.
 */
import { writeFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Client, createClient } from "../../http/client";
import { makeMedia } from "../../http/media";
import { createGroup } from "../one-shot/process-tree";
import { createSource } from "../render/media";
import { getMedian, startOffcut } from "../servers";

const RECORDINGS = Number(process.argv[2] ?? 50);
const SECONDS = 20;
const ROUNDS = 3;
/** Duration that a page plays before it requests more. */
const PIECE_SECONDS = 2;

const dataDir = await mkdtemp(join(tmpdir(), "offcut-opened-"));
const offcut = await startOffcut(dataDir, { OFFCUT_PREVIEWS: "on_opening" });
const group = createGroup();
writeFileSync(group.procs, String(offcut.pid));
const offcutExecutable = join(import.meta.dir, "../../../dist/offcut");

function createUser(email: string): Client {
  const run = (...args: string[]) =>
    Bun.spawnSync([offcutExecutable, ...args], { env: { ...process.env, OFFCUT_DATA_DIR: dataDir } })
      .stdout.toString()
      .trim();
  run("user", "create", "--email", email, "--password", "correct horse battery");
  return createClient(() => offcut.url, run("key", "create", "--email", email), "", 300);
}

type Cost = { wall: number; cpu: number };

/**
 * Renders with a setting that no other render has. Returns the seconds that it took, and those of all processes of the
 * server.
 */
async function render(user: Client, assetId: string, round: number): Promise<Cost> {
  const [from, cpuFrom] = [performance.now(), group.readCpuMs()];
  const { id } = await user.startRender({
    asset_id: assetId,
    output: { resolution: "480p", audio_bitrate: 96_000 + round },
  });
  const { state } = await user.renderEnded(id);
  if (state !== "completed") throw new Error(`render is ${state}`);
  return { wall: (performance.now() - from) / 1000, cpu: (group.readCpuMs() - cpuFrom) / 1000 };
}

/**
 * Opens a recording as a page does, and plays it again and again until `signal` is aborted. Returns the number of
 * pieces.
 */
async function play(user: Client, id: string, signal: AbortSignal): Promise<number> {
  let pieces = 0;
  for (let from = 0; !signal.aborted; from = (from + PIECE_SECONDS) % SECONDS) {
    const tracks = ["video", "audio"].map((track) =>
      user.call("GET", `/api/v1/assets/${id}/pieces/${track}?from=${from}&to=${from + PIECE_SECONDS}`),
    );
    const answers = await Promise.all(tracks);
    pieces += answers.filter(({ status }) => status === 200).length;
    // Playing takes as long as the piece.
    await Bun.sleep(PIECE_SECONDS * 1000);
  }
  return pieces;
}

try {
  const [editor, opener] = [createUser("editor@example.com"), createUser("opener@example.com")];
  const source = await Bun.file(await createSource({ height: 720, gopSeconds: 2, seconds: 60 })).bytes();
  const asset = await editor.ready(source);
  const old = await makeMedia(
    "opened.avi",
    ...["-f", "lavfi", "-i", "testsrc2=s=1280x720:r=30", "-f", "lavfi", "-i", "sine=r=48000", "-t", String(SECONDS)],
    ...["-c:v", "mpeg4", "-q:v", "4", "-c:a", "libmp3lame"],
  );
  const ids: string[] = [];
  for (let n = 0; n < RECORDINGS; n++) ids.push((await opener.ready(old)).id);

  const [alone, during]: [Cost[], Cost[]] = [[], []];
  let pieces = 0;
  for (let round = 0; round < ROUNDS; round++) {
    alone.push(await render(editor, asset.id, 2 * round));
    const closing = new AbortController();
    const pages = ids.map((id) => play(opener, id, closing.signal));
    during.push(await render(editor, asset.id, 2 * round + 1));
    closing.abort();
    for (const count of await Promise.all(pages)) pieces += count;
  }
  const getRatio = (key: keyof Cost) =>
    getMedian(during.map((cost, round) => cost[key] / alone[round]![key])).toFixed(2);
  const show = (costs: Cost[], key: keyof Cost) => getMedian(costs.map((cost) => cost[key])).toFixed(1);
  console.table([
    {
      recordings: RECORDINGS,
      "render alone s": show(alone, "wall"),
      "while they are open s": show(during, "wall"),
      ratio: getRatio("wall"),
      "CPU alone s": show(alone, "cpu"),
      "CPU while they are open s": show(during, "cpu"),
      "CPU ratio": getRatio("cpu"),
      "pieces played": pieces,
    },
  ]);
} finally {
  await offcut.stop();
  await rm(dataDir, { recursive: true, force: true });
}
