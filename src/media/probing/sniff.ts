/** Recognizes the type of a file by its first bytes, never by its name or the type that a client declares. */
import { fileTypeFromBuffer } from "file-type";
import type { SniffedMedia } from "../../domain/media";

type MediaKind = { type: "audio" | "video"; demuxer: string; contentType: string; extension?: string | undefined };

const createKinds =
  (type: MediaKind["type"]) =>
  (demuxer: string, contentType: string, extension?: string): MediaKind => ({ type, demuxer, contentType, extension });
const createVideoKind = createKinds("video");
const createAudioKind = createKinds("audio");

/** Keyed by file-type's extension. Types that are not listed (images, playlists, text, archives, …) are rejected. */
const KINDS_BY_EXTENSION: Record<string, MediaKind> = {
  mp4: createVideoKind("mov", "video/mp4"),
  m4v: createVideoKind("mov", "video/x-m4v"),
  mov: createVideoKind("mov", "video/quicktime"),
  "3gp": createVideoKind("mov", "video/3gpp"),
  "3g2": createVideoKind("mov", "video/3gpp2"),
  f4v: createVideoKind("mov", "video/mp4", "mp4"),
  mj2: createVideoKind("mov", "video/mj2"),
  m4a: createAudioKind("mov", "audio/mp4"),
  m4b: createAudioKind("mov", "audio/mp4"),
  m4p: createAudioKind("mov", "audio/mp4"),
  f4a: createAudioKind("mov", "audio/mp4", "m4a"),
  f4b: createAudioKind("mov", "audio/mp4", "m4a"),
  mkv: createVideoKind("matroska", "video/x-matroska"),
  mka: createAudioKind("matroska", "audio/x-matroska"),
  webm: createVideoKind("matroska", "video/webm"),
  mts: createVideoKind("mpegts", "video/mp2t", "ts"),
  avi: createVideoKind("avi", "video/x-msvideo"),
  flv: createVideoKind("flv", "video/x-flv"),
  mpg: createVideoKind("mpeg", "video/mpeg"),
  asf: createVideoKind("asf", "video/x-ms-asf", "wmv"),
  wmv: createVideoKind("asf", "video/x-ms-wmv"),
  wma: createAudioKind("asf", "audio/x-ms-wma"),
  mxf: createVideoKind("mxf", "application/mxf"),
  ogv: createVideoKind("ogg", "video/ogg"),
  ogm: createVideoKind("ogg", "video/ogg", "ogv"),
  ogx: createVideoKind("ogg", "application/ogg", "ogv"),
  ogg: createAudioKind("ogg", "audio/ogg"),
  oga: createAudioKind("ogg", "audio/ogg", "ogg"),
  opus: createAudioKind("ogg", "audio/ogg"),
  spx: createAudioKind("ogg", "audio/ogg"),
  wav: createAudioKind("wav", "audio/wav"),
  mp3: createAudioKind("mp3", "audio/mpeg"),
  mp2: createAudioKind("mp3", "audio/mpeg"),
  mp1: createAudioKind("mp3", "audio/mpeg"),
  flac: createAudioKind("flac", "audio/flac"),
  aac: createAudioKind("aac", "audio/aac"),
  ac3: createAudioKind("ac3", "audio/ac3"),
  aif: createAudioKind("aiff", "audio/aiff", "aiff"),
  caf: createAudioKind("caf", "audio/x-caf"),
  amr: createAudioKind("amr", "audio/amr"),
  ape: createAudioKind("ape", "audio/x-ape"),
  wv: createAudioKind("wv", "audio/wavpack"),
};

const TS_SYNC_BYTE = 0x47;

/**
 * Recognizes a media file by its first bytes (4 KiB are enough unless a large tag comes first). Returns null for an
 * unsupported type. Whether an MP4 or Matroska file has video is known only after probing.
 */
export async function sniffMedia(head: Uint8Array): Promise<SniffedMedia | null> {
  const recognized = findUnrecognizedMedia(head);
  if (recognized !== null) return recognized;
  const found = await fileTypeFromBuffer(head).catch(() => undefined);
  if (found === undefined) return null;
  const extension = found.mime.startsWith("audio/") && found.ext === "asf" ? "wma" : found.ext;
  const kind = KINDS_BY_EXTENSION[extension];
  return kind === undefined ? null : toSniffedMedia(extension, kind);
}

const toSniffedMedia = (extension: string, kind: MediaKind): SniffedMedia => ({
  ...kind,
  extension: kind.extension ?? extension,
});

/** Recognizes the types that file-type misses or mistakes. */
function findUnrecognizedMedia(head: Uint8Array): SniffedMedia | null {
  if (startsWith(head, [0x00, 0x00, 0x01, 0xb3]))
    return toSniffedMedia("mpg", { ...KINDS_BY_EXTENSION.mpg!, demuxer: "mpegvideo" });
  if (startsWith(head, [0x52, 0x46, 0x36, 0x34]) && startsWith(head.subarray(8), [0x57, 0x41, 0x56, 0x45]))
    return toSniffedMedia("wav", KINDS_BY_EXTENSION.wav!);
  if (isTransportStream(head)) return toSniffedMedia("mts", KINDS_BY_EXTENSION.mts!);
  return null;
}

function startsWith(bytes: Uint8Array, prefix: readonly number[]): boolean {
  return bytes.length >= prefix.length && prefix.every((byte, n) => bytes[n] === byte);
}

/** Packets of 188 bytes, of 192 with a timestamp before each (M2TS), or of 204 with error correction, at any offset. */
function isTransportStream(head: Uint8Array): boolean {
  const packets = 5;
  for (const size of [188, 192, 204])
    for (let first = 0; first < size; first++) {
      let n = 0;
      while (n < packets && head[first + n * size] === TS_SYNC_BYTE) n++;
      if (n === packets) return true;
    }
  return false;
}
