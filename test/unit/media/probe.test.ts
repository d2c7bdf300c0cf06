import { afterAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { SniffedMedia } from "../../../src/domain/media";
import { probeMedia } from "../../../src/media/probe";
import {
  audioInput,
  bundledFfmpeg,
  generate,
  h264,
  plainMp4,
  runTool,
  systemFfmpeg,
  videoInput,
} from "./generated-media";
import { LIMITS, probeFile, sniffFile } from "./rendering";

setDefaultTimeout(120_000);

const folder = await mkdtemp(join(tmpdir(), "offcut-probe-"));
afterAll(() => rm(folder, { recursive: true, force: true }));

const MP4: SniffedMedia = { type: "video", extension: "mp4", contentType: "video/mp4", demuxer: "mov" };

async function codeOf(path: string, limits = LIMITS): Promise<string> {
  const sniffed = await sniffFile(path).catch(() => MP4);
  const codes = await Promise.all(
    [systemFfmpeg, bundledFfmpeg].map((ffmpeg) =>
      probeMedia({ path, sniffed, ffmpeg, limits }).then(
        () => "fine",
        (error) => String(error.code),
      ),
    ),
  );
  expect(codes[0]).toBe(codes[1]!);
  return codes[0]!;
}

const write = async (name: string, content: string | Uint8Array): Promise<string> => {
  await Bun.write(join(folder, name), content);
  return join(folder, name);
};

describe("unusable files fail with a code", () => {
  test("text named .mp4, with any forced demuxer", async () => {
    expect(await codeOf(await write("text.mp4", "hello\n".repeat(500)))).toBe("corrupt_media");
  });

  test("a playlist or list of files reads no other file", async () => {
    const secret = await plainMp4();
    expect(await codeOf(await write("list.mp4", `ffconcat version 1.0\nfile '${secret}'\n`))).toBe("corrupt_media");
    expect(await codeOf(await write("hls.mp4", `#EXTM3U\n#EXTINF:10,\n${secret}\n#EXT-X-ENDLIST\n`))).toBe(
      "corrupt_media",
    );
  });

  test("an empty file", async () => {
    expect(await codeOf(await write("empty.mp4", ""))).toBe("corrupt_media");
  });

  test("an MP4 without its index, or without the second half of its media", async () => {
    const index = await generate("index-last.mp4", "-i", await plainMp4(), "-c", "copy");
    for (const [name, path] of [
      ["no-index.mp4", index],
      ["half.mp4", await plainMp4()],
    ] as const) {
      const whole = await Bun.file(path).bytes();
      expect(await codeOf(await write(name, whole.slice(0, whole.length >> 1)))).toBe("corrupt_media");
    }
  });

  test("audio without duration", async () => {
    const wav = await generate("nothing.wav", "-f", "lavfi", "-i", "anullsrc=r=16000:cl=mono", "-t", "0");
    expect(await codeOf(wav)).toBe("no_media_streams");
  });

  test("only subtitles", async () => {
    const text = await write("lines.srt", "1\n00:00:00,000 --> 00:00:02,000\nhello\n");
    expect(await codeOf(await generate("lines.mkv", "-i", text, "-c:s", "srt"))).toBe("no_media_streams");
  });

  test("limits: duration, size, number of streams", async () => {
    const path = await plainMp4();
    expect(await codeOf(path, { ...LIMITS, maxDurationSeconds: 11 })).toBe("media_limits_exceeded");
    expect(await codeOf(path, { ...LIMITS, maxSidePixels: 319 })).toBe("media_limits_exceeded");
    expect(await codeOf(path, { ...LIMITS, maxStreams: 1 })).toBe("media_limits_exceeded");
    expect(await codeOf(path)).toBe("fine");
  });

  test("damaged files fail soon", async () => {
    const whole = await Bun.file(await plainMp4()).bytes();
    const moov = Buffer.from(whole).indexOf("moov");
    let seed = 7;
    const random = (below: number) => {
      seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
      return seed % below;
    };
    for (let n = 0; n < 25; n++) {
      const damaged = whole.slice();
      for (let k = 0; k < 40; k++) damaged[moov + random(6_000)] = random(256);
      const path = await write(`damaged-${n}.mp4`, damaged);
      const result = await probeMedia({ path, sniffed: MP4, ffmpeg: bundledFfmpeg, limits: LIMITS }).then(
        (probed) => probed.info.type,
        (error) => error.code,
      );
      expect(result).toBeOneOf([
        "video",
        "audio",
        "corrupt_media",
        "no_media_streams",
        "media_limits_exceeded",
        "unsupported_media",
      ]);
    }
  });
});

describe("unsupported codecs", () => {
  // The encoder takes seconds for each second of a larger one.
  const videoInputs = ["-f", "lavfi", "-i", "testsrc=s=64x48:d=0.2"];
  test.each([
    ["a video codec", "cinepak.avi", [...videoInputs, "-c:v", "cinepak"], "Codec cinepak is"],
    ["an audio codec", "yamaha.wav", [...audioInput(44_100, 1, 1), "-c:a", "adpcm_yamaha"], "Codec adpcm_yamaha is"],
    [
      "a video codec next to audio that could be decoded",
      "cinepak.mkv",
      [...videoInputs, ...audioInput(44_100, 1, 1), "-c:v", "cinepak", "-c:a", "pcm_s16le"],
      "Codec cinepak is",
    ],
    [
      "both",
      "both.mkv",
      [...videoInputs, ...audioInput(44_100, 1, 1), "-c:v", "cinepak", "-c:a", "adpcm_yamaha"],
      "Codecs cinepak, adpcm_yamaha are",
    ],
  ])("%s: the file is rejected without running its decoder", async (_, name, options, message) => {
    const path = await generate(name, ...options);
    for (const ffmpeg of [systemFfmpeg, bundledFfmpeg]) {
      const refusal = await probeFile(path, ffmpeg).catch((error) => error);
      expect(refusal.code).toBe("unsupported_media");
      expect(refusal.message).toBe(`${message} not supported: convert the recording to H.264 and AAC.`);
    }
  });
});

describe("probed properties", () => {
  test("file names may contain any character", async () => {
    const path = join(folder, "-x: %03d\n'\"ünï 🎬.mp4");
    await Bun.write(path, Bun.file(await plainMp4()));
    for (const ffmpeg of [systemFfmpeg, bundledFfmpeg])
      expect((await probeFile(path, ffmpeg)).info.duration).toBe(12_000_000);
  });

  test("cover art is not video", async () => {
    const png = await generate("cover.png", "-f", "lavfi", "-i", "testsrc=s=200x200", "-frames:v", "1");
    const mp3 = await generate(
      "cover.mp3",
      ...audioInput(44_100, 1, 3),
      "-i",
      png,
      "-map",
      "0",
      "-map",
      "1",
      "-disposition:v",
      "attached_pic",
    );
    const m4a = await generate(
      "cover.m4a",
      ...audioInput(44_100, 1, 3),
      "-i",
      png,
      "-map",
      "0",
      "-map",
      "1",
      "-c:v",
      "png",
      "-disposition:v",
      "attached_pic",
    );
    for (const path of [mp3, m4a])
      for (const ffmpeg of [systemFfmpeg, bundledFfmpeg]) {
        const { info, frames } = await probeFile(path, ffmpeg);
        expect(info).toMatchObject({ type: "audio", video: null, audio: [{ channels: 1, sampleRate: 44_100 }] });
        expect(frames).toBeNull();
        expect(Math.abs(info.duration - 3_000_000)).toBeLessThan(60_000);
      }
  });

  test("audio that starts seconds after the video, and the other way around", async () => {
    const source = await plainMp4();
    for (const [name, early, late] of [
      ["late-audio.mkv", "0:v", "1:a"],
      ["late-video.mkv", "0:a", "1:v"],
    ] as const) {
      const inputs = ["-i", source, "-itsoffset", "4", "-i", source];
      const path = await generate(name, ...inputs, "-map", early, "-map", late, "-c", "copy");
      for (const ffmpeg of [systemFfmpeg, bundledFfmpeg]) {
        const { info } = await probeFile(path, ffmpeg);
        expect([info.video?.codec, info.audio.length]).toEqual(["h264", 1]);
        expect(info.startPts).toBeLessThan(100_000);
      }
    }
  });

  test("without audio, and with a video decoder that cannot be opened", async () => {
    const path = await generate("no-audio.mp4", "-i", await plainMp4(), "-an", "-c", "copy");
    expect((await probeFile(path)).info).toMatchObject({ type: "video", audio: [] });
    const bytes = await Bun.file(await plainMp4()).bytes();
    const at = Buffer.from(bytes).indexOf("avcC") + 8;
    expect(await codeOf(await write("no-parameter-sets.mp4", bytes.fill(0, at, at + 32)))).toBe("corrupt_media");
  });

  test("an MP4 without video is audio", async () => {
    expect((await probeFile(await generate("sound-only.mp4", ...audioInput(48_000, 2, 2)))).info.type).toBe("audio");
  });

  test("non-square pixels, color tags and several tracks", async () => {
    const path = await generate(
      "tagged.mkv",
      ...[
        ...videoInput("25", 2),
        ...audioInput(48_000, 2, 2),
        ...audioInput(44_100, 1, 2),
        "-map",
        "0:v",
        "-map",
        "1:a",
        "-map",
        "2:a",
      ],
      ...["-vf", "setsar=4/3", ...h264(25), "-color_primaries", "bt709", "-color_trc", "bt709", "-colorspace", "bt709"],
      ...["-color_range", "tv", "-metadata:s:a:1", "language=deu", "-metadata:s:a:1", "title=Zweite Spur"],
    );
    for (const ffmpeg of [systemFfmpeg, bundledFfmpeg]) {
      const { info } = await probeFile(path, ffmpeg);
      expect(info.video).toMatchObject({
        codec: "h264",
        width: 427,
        height: 180,
        codedWidth: 320,
        codedHeight: 180,
        pixelAspect: { num: 4, den: 3 },
        color: { primaries: "bt709", transfer: "bt709", matrix: "bt709", range: "tv" },
        bitDepth: 8,
        interlaced: false,
      });
      expect(info.audio.map(({ index, channels, language, title }) => [index, channels, language, title])).toEqual([
        [0, 2, null, null],
        [1, 1, expect.stringMatching(/^(deu|ger)$/), "Zweite Spur"],
      ]);
    }
  });

  test("a start timecode", async () => {
    const path = await generate(
      "timecode.mov",
      ...videoInput("30000/1001", 2),
      ...h264(30),
      "-timecode",
      "01:00:00;00",
    );
    expect((await probeFile(path)).info.timecode).toBe("01:00:00;00");
  });

  test("10-bit and interlaced video", async () => {
    const tenBit = await generate("deep.mkv", ...videoInput("25", 1), "-c:v", "libx264", "-pix_fmt", "yuv420p10le");
    expect((await probeFile(tenBit)).info.video).toMatchObject({ bitDepth: 10, pixelFormat: "yuv420p10le" });
    const interlaced = await generate(
      "woven.mp4",
      ...videoInput("50", 1),
      "-vf",
      "tinterlace=4",
      "-flags",
      "+ilme+ildct",
      ...h264(25),
    );
    for (const ffmpeg of [systemFfmpeg, bundledFfmpeg])
      expect((await probeFile(interlaced, ffmpeg)).info.video).toMatchObject({ interlaced: true });
  });

  test("an aborted probe ends with the signal's reason", async () => {
    const abortController = new AbortController();
    abortController.abort(new Error("enough"));
    const path = await plainMp4();
    await expect(
      probeMedia({ path, sniffed: MP4, ffmpeg: systemFfmpeg, limits: LIMITS, signal: abortController.signal }),
    ).rejects.toThrow("enough");
  });

  test("stream durations equal ffprobe's", async () => {
    const path = await plainMp4();
    const text = new TextDecoder().decode(
      await runTool(["/usr/bin/ffprobe", "-v", "error", "-show_entries", "format=duration", "-of", "csv=p=0", path]),
    );
    expect((await probeFile(path)).info.duration / 1e6).toBeCloseTo(Number(text), 1);
  });
});
