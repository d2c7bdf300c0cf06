import { expect, test } from "bun:test";
import { join } from "node:path";
import { readPacketTable } from "../../../../src/media/probing/packet-table";
import { temporaryFolder } from "../../../temporary-folder";
import { bundledFfmpeg, generate, h264, systemFfmpeg, videoInput } from "../generated-media";
import { probeFile, withRender } from "../rendering";

test("a Matroska file with a damaged end is listed by ffmpeg", async () => {
  await using folder = await temporaryFolder();
  const whole = await Bun.file(await generate("whole-for-damage.mkv", ...videoInput("25", 2), ...h264(25))).bytes();
  const path = join(folder.path, "damaged.mkv");
  // Zeros from the index after the last cluster on.
  await Bun.write(path, whole.fill(0, Buffer.from(whole).lastIndexOf(Buffer.from("1c53bb6b", "hex"))));

  const table = readPacketTable({ path, hasVideo: true, hasAudio: false, wallSeconds: 30 });
  await expect(table).rejects.toThrow("does not advance");
  await table.catch(() => {});

  for (const ffmpeg of [systemFfmpeg, bundledFfmpeg]) {
    const probed = await probeFile(path, ffmpeg);
    expect(probed.info.video?.frameRate).toEqual({ num: 25, den: 1 });
    await withRender({ path, probed, segments: null, ffmpeg }, async ({ result }) => {
      expect(result.duration).toBe(probed.info.duration);
    });
  }
}, 60_000);
