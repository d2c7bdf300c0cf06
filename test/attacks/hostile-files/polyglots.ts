/**
 * Files that are something else than they claim: lists of files, playlists, drawings, archives and subtitles with a
 * media file's beginning.
 */
import { type Bytes, concat, latin, text, uintBE, uintLE, zeros } from "./bytes";
import type { Container, Targets } from "./cases";

/** The first bytes by which each container is known. */
const MAGIC: Record<Container, Bytes> = {
  mp4: concat(uintBE(24, 4), latin("ftypisom"), uintBE(512, 4), latin("isommp41")),
  mkv: Uint8Array.of(0x1a, 0x45, 0xdf, 0xa3, 0x8b, 0x42, 0x82, 0x88, ...latin("matroska")),
  ogg: concat(latin("OggS"), zeros(24), latin("\x01vorbis")),
  flac: concat(latin("fLaC"), zeros(2)),
  wav: concat(latin("RIFF"), uintLE(2_000, 4), latin("WAVE")),
  mp3: concat(latin("ID3"), Uint8Array.of(4, 0, 0, 0, 0, 0, 0)),
  avi: concat(latin("RIFF"), uintLE(2_000, 4), latin("AVI LIST")),
  ts: concat(...Array.from({ length: 6 }, () => concat(Uint8Array.of(0x47, 0x1f, 0xff, 0x10), zeros(184)))),
};

/** Files that claim to be media, by name. */
const PAYLOADS: Record<string, (paths: Targets) => Bytes> = {
  "list of files": (paths) => text(`ffconcat version 1.0\n${paths.map((path) => `file '${path}'`).join("\n")}\n`),
  playlist: (paths) =>
    text(
      `#EXTM3U\n#EXT-X-TARGETDURATION:1\n${paths.map((path) => `#EXTINF:1,\nfile://${path}`).join("\n")}\n#EXT-X-ENDLIST\n`,
    ),
  "stream description": (paths) =>
    text(
      `<?xml version="1.0"?><!DOCTYPE MPD [<!ENTITY x SYSTEM "file://${paths[0]}">]><MPD><BaseURL>&x;${paths[0]}</BaseURL></MPD>`,
    ),
  drawing: (paths) =>
    text(
      `<svg xmlns="http://www.w3.org/2000/svg" xmlns:x="http://www.w3.org/1999/xlink"><image x:href="file://${paths[0]}"/></svg>`,
    ),
  image: () =>
    concat(
      latin("\x89PNG\r\n\x1a\n"),
      uintBE(13, 4),
      latin("IHDR"),
      uintBE(60_000, 4),
      uintBE(60_000, 4),
      Uint8Array.of(8, 6, 0, 0, 0),
      zeros(4),
    ),
  archive: () => concat(latin("PK\x03\x04"), zeros(22), uintLE(8, 2), zeros(2), latin("a/../../x")),
  subtitles: (paths) => text(`1\n00:00:00,000 --> 00:00:02,000\n<img src="${paths[0]}">\n`),
  "session description": (paths) =>
    text(
      `v=0\no=- 0 0 IN IP4 127.0.0.1\ns=${paths[0]}\nc=IN IP4 127.0.0.1\nm=video 9 RTP/AVP 96\na=rtpmap:96 H264/90000\n`,
    ),
  "list of commands": (paths) => text(`[script info]\nScriptType: v4.00+\n[events]\nDialogue: 0,${paths[0]}\n`),
  nothing: () => zeros(100_000),
};

/** Every payload as it is and behind the beginning of the container. */
export function polyglots(container: Container, targets: Targets): { name: string; bytes: Bytes }[] {
  return Object.entries(PAYLOADS).flatMap(([name, payload]) => [
    { name: `${name} with the beginning of a medium`, bytes: concat(MAGIC[container], payload(targets)) },
    { name: `${name} as it is`, bytes: payload(targets) },
  ]);
}
