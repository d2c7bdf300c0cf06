/** Hours without speech, through the real recognizer: minutes here, five hours with `OFFCUT_FULL=1`. */
import { expect, test } from "bun:test";
import { truncate } from "node:fs/promises";
import { join } from "node:path";
import { fullOr } from "../full-size";
import { IS_BUNDLED_PASS } from "./offcut";
import { memoryOf, startServer } from "./server";

const SECONDS = fullOr(5 * 3600, 5 * 60);
const PATIENCE_SECONDS = 1_200;
const RATE = 8_000;
const MAX_MEGABYTES = 300;

/** A WAV file of zeros, which takes no room on the disk. */
async function writeSilence(path: string): Promise<void> {
  const header = Buffer.alloc(44);
  const size = SECONDS * RATE * 2;
  header.write("RIFF", 0);
  header.writeUInt32LE(36 + size, 4);
  header.write("WAVEfmt ", 8);
  header.writeUInt32LE(16, 16);
  header.writeUInt16LE(1, 20);
  header.writeUInt16LE(1, 22);
  header.writeUInt32LE(RATE, 24);
  header.writeUInt32LE(RATE * 2, 28);
  header.writeUInt16LE(2, 32);
  header.writeUInt16LE(16, 34);
  header.write("data", 36);
  header.writeUInt32LE(size, 40);
  await Bun.write(path, header);
  await truncate(path, 44 + size);
}

test.skipIf(IS_BUNDLED_PASS)(
  `${SECONDS / 60} minutes of silence are prepared and charged, and a cut says that nothing is spoken`,
  async () => {
    await using server = await startServer();
    const user = await server.user(1_000, PATIENCE_SECONDS);
    const path = join(server.folder, "silence.wav");
    await writeSilence(path);
    const file = Bun.file(path);
    const { id } = await user.open(file.size, { filename: "silence.wav" });
    expect((await user.patch(id, 0, file)).status).toBe(204);
    const asset = await user.prepared(id);
    expect(asset).toMatchObject({ state: "ready", duration_seconds: String(SECONDS), cuttable: true });
    const cut = await user.cutEnded((await user.startCut({ asset_id: id })).id);
    expect(cut).toMatchObject({ state: "failed", error_code: "no_speech" });
    expect(await memoryOf(server.pid(), "VmHWM")).toBeLessThan(MAX_MEGABYTES);
    const charges = await server.query("SELECT delta FROM ledger WHERE type = 'consume_asset'");
    expect(charges).toEqual([{ delta: -SECONDS / 60 }]);
  },
  PATIENCE_SECONDS * 1000,
);
