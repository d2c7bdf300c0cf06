/** What a file is, by its first bytes: never by its name or by what a client says. */
import { fileTypeFromBuffer } from "file-type";
import type { Sniffed } from "../../domain/media";

type Kind = { type: "audio" | "video"; demuxer: string; contentType: string; extension?: string };

const video = (demuxer: string, contentType: string, extension?: string): Kind => ({
  type: "video",
  demuxer,
  contentType,
  ...(extension === undefined ? {} : { extension }),
});
const audio = (demuxer: string, contentType: string, extension?: string): Kind => ({
  ...video(demuxer, contentType, extension),
  type: "audio",
});

/** By the extension that file-type gives. What is not here (pictures, playlists, text, archives, …) is not taken. */
const KINDS: Record<string, Kind> = {
  mp4: video("mov", "video/mp4"),
  m4v: video("mov", "video/x-m4v"),
  mov: video("mov", "video/quicktime"),
  "3gp": video("mov", "video/3gpp"),
  "3g2": video("mov", "video/3gpp2"),
  f4v: video("mov", "video/mp4", "mp4"),
  mj2: video("mov", "video/mj2"),
  m4a: audio("mov", "audio/mp4"),
  m4b: audio("mov", "audio/mp4"),
  m4p: audio("mov", "audio/mp4"),
  f4a: audio("mov", "audio/mp4", "m4a"),
  f4b: audio("mov", "audio/mp4", "m4a"),
  mkv: video("matroska", "video/x-matroska"),
  mka: audio("matroska", "audio/x-matroska"),
  webm: video("matroska", "video/webm"),
  mts: video("mpegts", "video/mp2t", "ts"),
  avi: video("avi", "video/x-msvideo"),
  flv: video("flv", "video/x-flv"),
  mpg: video("mpeg", "video/mpeg"),
  asf: video("asf", "video/x-ms-asf", "wmv"),
  wmv: video("asf", "video/x-ms-wmv"),
  wma: audio("asf", "audio/x-ms-wma"),
  mxf: video("mxf", "application/mxf"),
  ogv: video("ogg", "video/ogg"),
  ogm: video("ogg", "video/ogg", "ogv"),
  ogx: video("ogg", "application/ogg", "ogv"),
  ogg: audio("ogg", "audio/ogg"),
  oga: audio("ogg", "audio/ogg", "ogg"),
  opus: audio("ogg", "audio/ogg"),
  spx: audio("ogg", "audio/ogg"),
  wav: audio("wav", "audio/wav"),
  mp3: audio("mp3", "audio/mpeg"),
  mp2: audio("mp3", "audio/mpeg"),
  mp1: audio("mp3", "audio/mpeg"),
  flac: audio("flac", "audio/flac"),
  aac: audio("aac", "audio/aac"),
  ac3: audio("ac3", "audio/ac3"),
  aif: audio("aiff", "audio/aiff", "aiff"),
  caf: audio("caf", "audio/x-caf"),
  amr: audio("amr", "audio/amr"),
  ape: audio("ape", "audio/x-ape"),
  wv: audio("wv", "audio/wavpack"),
};

const TS_SYNC = 0x47;

/**
 * Recognises a media file by its first bytes (4 KiB are enough unless a large tag comes first). Null: not a medium that Offcut takes.
 * Whether an MP4 or Matroska file has a picture is only known when it is probed.
 */
export async function sniff(head: Uint8Array): Promise<Sniffed | null> {
  const known = ownRecognition(head);
  if (known !== null) return known;
  const found = await fileTypeFromBuffer(head).catch(() => undefined);
  if (found === undefined) return null;
  const extension = found.mime.startsWith("audio/") && found.ext === "asf" ? "wma" : found.ext;
  const kind = KINDS[extension];
  return kind === undefined ? null : sniffed(extension, kind);
}

function sniffed(extension: string, kind: Kind): Sniffed {
  return {
    type: kind.type,
    extension: kind.extension ?? extension,
    contentType: kind.contentType,
    demuxer: kind.demuxer,
  };
}

/** What file-type takes for something else, or not at all. */
function ownRecognition(head: Uint8Array): Sniffed | null {
  if (startsWith(head, [0x00, 0x00, 0x01, 0xb3])) return sniffed("mpg", { ...KINDS.mpg!, demuxer: "mpegvideo" });
  if (startsWith(head, [0x52, 0x46, 0x36, 0x34]) && startsWith(head.subarray(8), [0x57, 0x41, 0x56, 0x45]))
    return sniffed("wav", KINDS.wav!);
  if (isTransportStream(head)) return sniffed("mts", KINDS.mts!);
  return null;
}

function startsWith(bytes: Uint8Array, prefix: readonly number[]): boolean {
  return bytes.length >= prefix.length && prefix.every((byte, n) => bytes[n] === byte);
}

/** Packets of 188 bytes, of 192 with a time code before each (M2TS), or of 204 with check bytes, wherever the first one begins. */
function isTransportStream(head: Uint8Array): boolean {
  const packets = 5;
  for (const size of [188, 192, 204])
    for (let first = 0; first < size; first++) {
      let n = 0;
      while (n < packets && head[first + n * size] === TS_SYNC) n++;
      if (n === packets) return true;
    }
  return false;
}
