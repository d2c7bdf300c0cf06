import { afterEach, expect, setSystemTime, test } from "bun:test";
import { readdir, readlink } from "node:fs/promises";
import { join } from "node:path";
import {
  BufferTarget,
  EncodedPacket,
  EncodedVideoPacketSource,
  Mp4OutputFormat,
  Output,
  type Target,
} from "mediabunny";
import { FileTarget } from "../../../../src/media/packets/file-target";
import { readFileConfig } from "../../../../src/media/packets/video-track";
import { temporaryFolder } from "../../../temporary-folder";
import { plainMp4 } from "../generated-media";

afterEach(() => {
  setSystemTime();
});

/** Sizes around those at which packets are copied, and enough of them for several buffers of copies. */
const SIZES = [1, 7, 511, 512, 513, 5_000, 300, 100_000, 2, 0];

async function mux(target: Target, count: number): Promise<void> {
  const decoderConfig = await readFileConfig(await plainMp4());
  // The file contains the time of its creation.
  setSystemTime(new Date("2026-01-01T00:00:00Z"));
  const output = new Output({ format: new Mp4OutputFormat({ fastStart: false }), target });
  const source = new EncodedVideoPacketSource("avc");
  output.addVideoTrack(source);
  await output.start();
  try {
    for (let n = 0; n < count; n++) {
      const data = new Uint8Array(SIZES[n % SIZES.length]!).fill(n);
      const packet = new EncodedPacket(data, n % 20 === 0 ? "key" : "delta", n / 30, 1 / 30);
      await source.add(packet, n === 0 ? { decoderConfig } : undefined);
    }
    await output.finalize();
  } catch (error) {
    await output.cancel();
    throw error;
  }
}

test.each([1, 30, 1_500])("%d packets are written as by the muxer's own target", async (count) => {
  await using folder = await temporaryFolder();
  const path = join(folder.path, "video.mp4");
  const expected = new BufferTarget();
  await mux(expected, count);
  await mux(new FileTarget(path), count);
  expect(Bun.hash(await Bun.file(path).arrayBuffer())).toBe(Bun.hash(expected.buffer!));
});

test("a full disk is an error, and the file is closed", async () => {
  expect(await mux(new FileTarget("/dev/full"), 30).catch((error) => error.code)).toBe("ENOSPC");
  const open = await Promise.all(
    (await readdir("/proc/self/fd")).map((fd) => readlink(`/proc/self/fd/${fd}`).catch(() => "")),
  );
  expect(open).not.toContain("/dev/full");
});

test("a file that cannot be opened is an error", async () => {
  expect(await mux(new FileTarget("/none/video.mp4"), 30).catch((error) => error.code)).toBe("ENOENT");
});
