import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync } from "node:fs";
import { buildAvcConfig, parseAvcConfig } from "../../../src/media/packets/h264";
import { buildHevcConfig, parseHevcConfig, renumberParameterSets } from "../../../src/media/packets/hevc";
import { generate, h264, videoInput } from "./generated-media";
import { patchMp4 } from "./mp4-patch";
import { readFrameNumbers } from "./readback";
import { expectExactVideo, probeFile, toSnappedSegments, withRender } from "./rendering";
import { SOURCES } from "./sources";

setDefaultTimeout(120_000);

const PLAN = [
  [0.6, 2.3],
  [3.1, 5.2],
] as const;

const moving = (...recipe: string[]) => [...videoInput("25", 6), ...recipe];
const source = (name: string) => SOURCES.find((generated) => generated.name.includes(name))!.path();

/** A plain video with its `moov` at the end. */
const plainVideo = () => generate("film-6.mp4", ...moving(...h264(25)));

/** The plain video with one box changed. */
async function patched(
  name: string,
  boxes: readonly string[],
  change: (body: Uint8Array) => Uint8Array,
): Promise<string> {
  const from = await plainVideo();
  const path = from.replace("film-6.mp4", name);
  if (!existsSync(path))
    await Bun.write(path, patchMp4(await Bun.file(from).bytes(), ["moov", "trak", ...boxes], change));
  return path;
}

const STSD = ["mdia", "minf", "stbl", "stsd"];
const avcC = [...STSD, "avc1", "avcC"];

/** Two adjacent edits: the presentation is the same as with one. */
function twoEdits(elst: Uint8Array): Uint8Array {
  const [duration, start] = [Buffer.from(elst).readUInt32BE(8), Buffer.from(elst).readUInt32BE(12)];
  const edits = Buffer.alloc(8 + 2 * 12);
  edits.writeUInt32BE(2, 4);
  const first = duration >> 1;
  for (const [n, [length, from]] of [
    [first, start],
    [duration - first, start + Math.round((first / 1_000) * 12_800)],
  ].entries()) {
    edits.writeUInt32BE(length!, 8 + 12 * n);
    edits.writeUInt32BE(from!, 12 + 12 * n);
    edits.writeUInt32BE(0x10000, 16 + 12 * n);
  }
  return edits;
}

/** The same sample description twice. No sample refers to the second. */
function twoDescriptions(stsd: Uint8Array): Uint8Array {
  const twice = Buffer.concat([stsd, stsd.subarray(8)]);
  twice.writeUInt32BE(2, 4);
  return twice;
}

/** Picture parameter sets with every id. */
function allIds(body: Uint8Array): Uint8Array {
  const config = parseAvcConfig(body);
  const bits = [...config.pps[0]!.subarray(1)].map((byte) => byte.toString(2).padStart(8, "0")).join("");
  const numbered = (id: number) => {
    const digits = (id + 1).toString(2);
    const all = `${"0".repeat(digits.length - 1)}${digits}${bits.slice(1).replace(/0+$/, "")}`;
    const bytes = all.padEnd(8 * Math.ceil(all.length / 8), "0").match(/.{8}/g)!;
    return Uint8Array.from([0x68, ...bytes.map((byte) => Number.parseInt(byte, 2))]);
  };
  return buildAvcConfig({ ...config, pps: Array.from({ length: 32 }, (_, id) => numbered(id)) });
}

/** The hundredth sample is longer than any file. */
function hugePacket(stsz: Uint8Array): Uint8Array {
  const changed = Buffer.from(stsz);
  changed.writeUInt32BE(0x7f_ffff, 12 + 4 * 99);
  return changed;
}

function otherProfile(body: Uint8Array): Uint8Array {
  const changed = body.slice();
  changed[1] = 88;
  return changed;
}

const h265 = (parameters: string) => [
  ...["-c:v", "libx265", "-preset", "ultrafast", "-tag:v", "hvc1", "-x265-params", `log-level=error:${parameters}`],
];

/** An HEVC video with its `hvcC` changed. */
async function patchedHevc(
  name: string,
  change: (body: Uint8Array) => Uint8Array,
  parameters = "keyint=25:open-gop=0",
): Promise<string> {
  const from = await generate(`of-${name}`, ...moving(...h265(parameters)));
  const path = from.replace(`of-${name}`, name);
  if (!existsSync(path))
    await Bun.write(path, patchMp4(await Bun.file(from).bytes(), ["moov", "trak", ...STSD, "hvc1", "hvcC"], change));
  return path;
}

const rangeExtended = (body: Uint8Array) => body.with(1, 4);

/** As in files with in-band parameter sets. */
const withoutSets = (body: Uint8Array) => Uint8Array.from([...body.subarray(0, 22), 0]);

/** Picture parameter sets with every suitable id. */
function allHevcIds(body: Uint8Array): Uint8Array {
  const config = parseHevcConfig(body);
  const numbered = Array.from(
    { length: 16 },
    (_, n) => renumberParameterSets(config, { vps: 0, sps: 0, pps: 15 + n }).pps[0]!,
  );
  return buildHevcConfig({ ...config, pps: [...config.pps, ...numbered] });
}

/** Two streams in one track: the parameter sets of the second are in-band. */
async function joined(name: string, ...second: string[]): Promise<string> {
  const first = await generate("change-1.ts", ...videoInput("25", 3), ...h264(25));
  const other = await generate(`${name}-2.ts`, ...second);
  return await generate(`${name}.mp4`, "-i", `concat:${first}|${other}`, "-c", "copy");
}

const smallerSize = ["-vf", "scale=160:90", ...h264(25)];
const fewerCodingTools = [
  "-c:v",
  "libx264",
  "-refs",
  "1",
  "-bf",
  "2",
  "-g",
  "25",
  "-x264-params",
  "weightp=0:8x8dct=0",
];

const CASES: [string, RegExp, () => Promise<string>, "inexact"?][] = [
  ["another container", /^Container mpegts is not supported\.$/, () => generate("chunked.ts", ...moving(...h264(25)))],
  ["another codec", /^Codec vp9 is not supported\.$/, () => source("webm")],
  [
    "HEVC of ten bits",
    /^Pixel format yuv420p10le is not supported\.$/,
    () => generate("hevc-ten.mp4", ...moving(...h265("keyint=25:open-gop=0"), "-pix_fmt", "yuv420p10le")),
  ],
  [
    "HEVC of the full range",
    /^Pixel format yuvj420p is not supported\.$/,
    () => generate("hevc-full.mp4", ...moving(...h265("keyint=25:open-gop=0:range=full"))),
  ],
  [
    "HEVC of a profile that is not matched",
    /^HEVC profile 4 is not supported\.$/,
    () => patchedHevc("hevc-profile.mp4", rangeExtended),
  ],
  ["HEVC without a free id", /^All parameter set ids are in use\.$/, () => patchedHevc("hevc-ids.mp4", allHevcIds)],
  [
    "HEVC whose parameter sets are in its packets",
    /no parameter sets\.$/,
    () => patchedHevc("hevc-inside.mp4", withoutSets, "keyint=25:open-gop=0:repeat-headers=1"),
  ],
  [
    "ten bits",
    /^Pixel format yuv420p10le is not supported\.$/,
    () => generate("ten-bits.mp4", ...moving("-c:v", "libx264", "-pix_fmt", "yuv420p10le", "-g", "25")),
  ],
  [
    "4:2:2",
    /^Pixel format yuv422p is not supported\.$/,
    () => generate("half-chroma.mp4", ...moving("-c:v", "libx264", "-pix_fmt", "yuv422p", "-g", "25")),
  ],
  [
    "4:4:4",
    /^Pixel format yuv444p is not supported\.$/,
    () => generate("full-chroma.mp4", ...moving("-c:v", "libx264", "-pix_fmt", "yuv444p", "-g", "25")),
  ],
  [
    "interlaced",
    /^The video is interlaced\.$/,
    () => generate("woven-6.mp4", ...videoInput("50", 6), "-vf", "tinterlace=4", "-flags", "+ilme+ildct", ...h264(25)),
    "inexact",
  ],
  [
    "no avcC",
    /^The parameter sets are in-band\.$/,
    () => generate("inside.mp4", ...moving(...h264(25)), "-tag:v", "avc3"),
  ],
  [
    "a profile that x264 cannot match",
    /^H\.264 profile 88 is not supported\.$/,
    () => patched("profile.mp4", avcC, otherProfile),
  ],
  ["no free id", /^All parameter set ids are in use\.$/, () => patched("all-ids.mp4", avcC, allIds)],
  [
    "color tags that not every ffmpeg knows",
    /^Color tags are not supported/,
    () => generate("wide.mp4", ...moving(...h264(25), "-color_primaries", "bt2020", "-colorspace", "bt2020nc")),
  ],
  ["several edits", /^The edit list has several edits\.$/, () => patched("two-edits.mp4", ["edts", "elst"], twoEdits)],
  [
    "several descriptions",
    /^The track has several sample descriptions\.$/,
    () => patched("two-descriptions.mp4", STSD, twoDescriptions),
  ],
  ["an edit list that skips frames", /^Packet times differ from the probed frame times\.$/, () => source("skips")],
  [
    "two frames at one time",
    /^Two frames have the same presentation time\.$|fewer packets/,
    async () =>
      await generate(
        "one-time.mp4",
        "-i",
        await plainVideo(),
        "-c",
        "copy",
        "-bsf:v",
        "setts=pts='if(eq(N,61),PTS-512,PTS)'",
      ),
    "inexact",
  ],
  [
    "parameter sets that change on the way",
    /^Parameter sets change within the stream\.$/,
    () => joined("change", ...videoInput("25", 3), ...fewerCodingTools),
  ],
  [
    "a size that changes on the way",
    /^Parameter sets change within the stream\.$/,
    () => joined("resize", ...videoInput("25", 3), ...smallerSize),
  ],
  [
    "a table that points beyond the file",
    /^A packet of the table cannot be read\.$/,
    () => patched("beyond.mp4", ["mdia", "minf", "stbl", "stsz"], hugePacket),
    "inexact",
  ],
  [
    "few points to start from",
    /^\d+% of the frames would be encoded\.$/,
    () => generate("one-group.mp4", ...moving(...h264(600))),
  ],
];

describe("sources that cannot be spliced are rendered in chunks, correctly and with a reason", () => {
  for (const [name, reason, path, inexact] of CASES)
    test(name, async () => {
      const file = await path();
      const probed = await probeFile(file);
      const segments = toSnappedSegments(probed, PLAN);
      const reasons: unknown[] = [];
      const log = (event: string, fields: object) => {
        if (event === "render.fell_back") reasons.push((fields as { reason: string }).reason);
      };
      await withRender({ path: file, probed, segments, log }, async (rendered) => {
        expect(reasons).toEqual([expect.stringMatching(reason)]);
        expect(rendered.result.strategy).toBe("chunked");
        if (inexact === undefined)
          await expectExactVideo({ ...rendered, segments }, await readFrameNumbers(file, "scale=320:180,"));
      });
    });
});
