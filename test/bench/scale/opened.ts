/**
 * Measures how much a user who opens many recordings delays another's render: `bun test/bench/scale/opened.ts [RECORDINGS]` (default 50). Browsers
 * cannot decode the recordings, so that each page asks for encoded pieces and a preview. Alternates between renders alone and renders while the
 * recordings are open, and prints the ratio. Needs ffmpeg and `dist/offcut`.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Client, createClient } from "../../http/client";
import { makeMedia } from "../../http/media";
import { createSource } from "../render/media";
import { getMedian, startOffcut } from "../servers";

const RECORDINGS = Number(process.argv[2] ?? 50);
const SECONDS = 20;
const ROUNDS = 3;
/** What a page plays before it asks for more. */
const PIECE_SECONDS = 2;

const dataDir = await mkdtemp(join(tmpdir(), "offcut-opened-"));
const offcut = await startOffcut(dataDir, { OFFCUT_PREVIEWS: "on_opening" });
const offcutExecutable = join(import.meta.dir, "../../../dist/offcut");

function createUser(email: string): Client {
  const run = (...args: string[]) =>
    Bun.spawnSync([offcutExecutable, ...args], { env: { ...process.env, OFFCUT_DATA_DIR: dataDir } })
      .stdout.toString()
      .trim();
  run("user", "create", "--email", email, "--password", "correct horse battery");
  return createClient(() => offcut.url, run("key", "create", "--email", email), "", 300);
}

/** Renders with a setting that no other render has. Returns seconds. */
async function render(user: Client, assetId: string, round: number): Promise<number> {
  const from = performance.now();
  const { id } = await user.startRender({
    asset_id: assetId,
    output: { resolution: "480p", audio_bitrate: 96_000 + round },
  });
  const { state } = await user.renderEnded(id);
  if (state !== "completed") throw new Error(`render is ${state}`);
  return (performance.now() - from) / 1000;
}

/** Opens a recording as a page does, and plays it again and again until `signal` is aborted. Returns the number of pieces. */
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

  const [alone, during]: [number[], number[]] = [[], []];
  let pieces = 0;
  for (let round = 0; round < ROUNDS; round++) {
    alone.push(await render(editor, asset.id, 2 * round));
    const closing = new AbortController();
    const pages = ids.map((id) => play(opener, id, closing.signal));
    during.push(await render(editor, asset.id, 2 * round + 1));
    closing.abort();
    for (const count of await Promise.all(pages)) pieces += count;
  }
  const ratio = getMedian(during.map((seconds, round) => seconds / alone[round]!));
  console.table([
    {
      recordings: RECORDINGS,
      "render alone s": getMedian(alone).toFixed(1),
      "while they are open s": getMedian(during).toFixed(1),
      ratio: ratio.toFixed(2),
      "pieces played": pieces,
    },
  ]);
} finally {
  await offcut.stop();
  await rm(dataDir, { recursive: true, force: true });
}
