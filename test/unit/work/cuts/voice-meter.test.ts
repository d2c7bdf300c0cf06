import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createAudioFile } from "../../../../src/lib/analysis-audio/writer";
import { measureVoices } from "../../../../src/work/cuts/voice-meter";

const RATE = 16_000;
let folder: string;
let path: string;

/** Two seconds: a voice at 120 Hz, then one at 220 Hz with a tenth of the amplitude. */
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "offcut-voice-"));
  path = join(folder, "analysis.audio");
  const samples = Int16Array.from({ length: 2 * RATE }, (_, i) => {
    const [pitch, gain] = i < RATE ? [120, 16_000] : [220, 1_600];
    const since = (i % (RATE / pitch)) / RATE;
    return Math.round(gain * Math.exp(-since * 250) * Math.cos(2 * Math.PI * 700 * since));
  });
  const file = await createAudioFile(path);
  await file.write(samples);
  await file.finish();
  await file.close();
});
afterAll(() => rm(folder, { recursive: true, force: true }));

test("voices are measured in spans of the audio", async () => {
  const [low, high, beyond] = await measureVoices({ path }, [
    { start: 100_000, end: 900_000 },
    { start: 1_100_000, end: 1_900_000 },
    { start: 3_000_000, end: 4_000_000 },
  ]);
  expect(Math.abs(low!.pitch - 120)).toBeLessThan(3);
  expect(Math.abs(high!.pitch - 220)).toBeLessThan(6);
  expect(low!.level - high!.level).toBeGreaterThan(15);
  expect(beyond).toBeNull();
});
