import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { sniffMedia } from "../../../../src/media/probing/sniff";
import { audioInput, generate } from "../generated-media";
import { sniffFile } from "../rendering";
import { SOURCES } from "../sources";

setDefaultTimeout(120_000);

const bytes = (text: string) => new TextEncoder().encode(text.padEnd(2_000, "\n"));

describe("a file is recognized by its first bytes", () => {
  const expected: [RegExp, string, string][] = [
    [/mp4/, "mov", "mp4"],
    [/^mov/, "mov", "mov"],
    [/mkv/, "matroska", "mkv"],
    [/webm/, "matroska", "webm"],
    [/ts/, "mpegts", "ts"],
    [/avi/, "avi", "avi"],
    [/mpg/, "mpeg", "mpg"],
    [/wmv/, "asf", "wmv"],
    [/flv/, "flv", "flv"],
    [/ogv/, "ogg", "ogv"],
  ];
  for (const source of SOURCES)
    test(source.name, async () => {
      const [, demuxer, extension] = expected.find(([name]) => name.test(source.name))!;
      expect(await sniffFile(await source.path())).toMatchObject({ type: "video", demuxer, extension });
    });

  test.each([
    ["tone.wav", "wav", "wav", ["-c:a", "pcm_s16le"]],
    ["tone-rf64.wav", "wav", "wav", ["-c:a", "pcm_s16le", "-rf64", "always"]],
    ["tone.mp3", "mp3", "mp3", ["-c:a", "libmp3lame"]],
    ["tone-bare.mp3", "mp3", "mp3", ["-c:a", "libmp3lame", "-id3v2_version", "0", "-write_xing", "0"]],
    ["tone.aac", "aac", "aac", ["-c:a", "aac"]],
    ["tone.m4a", "mov", "m4a", ["-c:a", "aac"]],
    ["tone.flac", "flac", "flac", ["-c:a", "flac"]],
    ["tone.ogg", "ogg", "ogg", ["-c:a", "libvorbis"]],
    ["tone.opus", "ogg", "opus", ["-c:a", "libopus"]],
    ["tone.aiff", "aiff", "aiff", ["-c:a", "pcm_s16be"]],
    ["tone.wma", "asf", "wma", ["-c:a", "wmav2"]],
    ["tone.ac3", "ac3", "ac3", ["-c:a", "ac3"]],
    ["tone.caf", "caf", "caf", ["-c:a", "pcm_s16le"]],
  ])("%s", async (name, demuxer, extension, codec) => {
    const path = await generate(name, ...audioInput(48_000, 1, 2), ...codec);
    expect(await sniffFile(path)).toMatchObject({ type: "audio", demuxer, extension });
  });
});

describe("other files are rejected", () => {
  test.each([
    ["text", bytes("hello world")],
    ["a playlist", bytes("#EXTM3U\n#EXT-X-TARGETDURATION:10\n/etc/passwd")],
    ["a list of files", bytes("ffconcat version 1.0\nfile /etc/passwd")],
    ["a subtitle", bytes("1\n00:00:01,000 --> 00:00:02,000\nhello")],
    ["nothing", new Uint8Array(0)],
    ["one byte", new Uint8Array([0x47])],
    ["zeros", new Uint8Array(4_096)],
    ["XML", bytes('<?xml version="1.0"?><MPD/>')],
    ["a ZIP", new Uint8Array([0x50, 0x4b, 3, 4, ...Array(500).fill(1)])],
    [
      "a PNG",
      new Uint8Array([
        0x89,
        0x50,
        0x4e,
        0x47,
        0x0d,
        0x0a,
        0x1a,
        0x0a,
        0,
        0,
        0,
        13,
        0x49,
        0x48,
        0x44,
        0x52,
        ...Array(100).fill(0),
      ]),
    ],
    ["a JPEG", new Uint8Array([0xff, 0xd8, 0xff, 0xe0, ...Array(500).fill(0)])],
  ])("%s", async (_, head) => {
    expect(await sniffMedia(head)).toBeNull();
  });
});
