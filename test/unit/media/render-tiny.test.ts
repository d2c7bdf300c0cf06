/** Outputs of a few frames, where one is easily lost. */
import { expect, setDefaultTimeout, test } from "bun:test";
import { fullOr } from "../../full-size";
import { bundledFfmpeg, plainMp4, systemFfmpeg } from "./generated-media";
import { readFrameNumbers } from "./readback";
import { probeFile, toSnappedSegments, withRender } from "./rendering";

setDefaultTimeout(120_000);

/**
 * The system ffmpeg starts ten times slower than the bundled one, so it renders every sixth count unless
 * `OFFCUT_FULL=1`.
 */
const SYSTEM_STEP = fullOr(1, 6);

test.each([
  ["bundled", bundledFfmpeg, 1],
  ["system's", systemFfmpeg, SYSTEM_STEP],
] as const)("every one of up to fourteen frames is there, with the %s ffmpeg", async (_, ffmpeg, step) => {
  const path = await plainMp4();
  const probed = await probeFile(path, ffmpeg);
  for (const from of [4, 60])
    for (let count = 1; count <= 14; count += step) {
      const segments = toSnappedSegments(probed, [[from / 30 + 0.001, (from + count) / 30 - 0.001]]);
      await withRender({ path, probed, segments, ffmpeg }, async (rendered) => {
        expect(await readFrameNumbers(rendered.path)).toEqual(Array.from({ length: count }, (_, n) => from + n));
      });
    }
});
