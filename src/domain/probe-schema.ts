/** The schemas of probe results, which also validate files from workers. Pure. */
import { Type } from "@sinclair/typebox";

export const text = (maxLength: number) => Type.String({ maxLength });
const textOrNull = (maxLength: number) => Type.Union([text(maxLength), Type.Null()]);
export const count = (maximum = Number.MAX_SAFE_INTEGER) => Type.Integer({ minimum: 0, maximum });
const countOrNull = Type.Union([Type.Number({ minimum: 0, maximum: 1e12 }), Type.Null()]);
const ticks = Type.Integer({ minimum: Number.MIN_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER });
const ratio = Type.Object({ num: Type.Integer({ minimum: 1 }), den: Type.Integer({ minimum: 1 }) });
const side = Type.Integer({ minimum: 1, maximum: 1_000_000 });
const mediaType = Type.Union([Type.Literal("audio"), Type.Literal("video")]);
const MAX_STREAMS = 1_000;

export const videoStream = Type.Object({
  /** ffmpeg's codec name: `h264`, `hevc`, `vp9`, … */
  codec: text(64),
  /** Display size in pixels, after rotation and with square pixels. */
  width: side,
  height: side,
  /** Size of the coded pictures. */
  codedWidth: side,
  codedHeight: side,
  /** Rotation by the player, in degrees clockwise. */
  rotation: Type.Union([Type.Literal(0), Type.Literal(90), Type.Literal(180), Type.Literal(270)]),
  /** Pixel aspect ratio: the width of a coded pixel over its height. */
  pixelAspect: ratio,
  /** The exact rate, snapped to a standard one if close; the mean rate if `variable`. */
  frameRate: ratio,
  variable: Type.Boolean(),
  /** Bits per second, measured or declared; null if unknown. */
  bitrate: countOrNull,
  pixelFormat: textOrNull(64),
  bitDepth: count(64),
  /** Named as in ffmpeg; null if not tagged. */
  color: Type.Object({
    primaries: textOrNull(64),
    transfer: textOrNull(64),
    matrix: textOrNull(64),
    range: Type.Union([Type.Literal("tv"), Type.Literal("pc"), Type.Null()]),
  }),
  interlaced: Type.Boolean(),
});

export const audioStream = Type.Object({
  /** ffmpeg's index among the file's audio streams: N in `0:a:N`. */
  index: count(MAX_STREAMS),
  codec: text(64),
  sampleRate: count(10_000_000),
  channels: count(1_024),
  /** Set when the channels have no speaker positions, as in files from a multitrack recorder. */
  discrete: Type.Optional(Type.Literal(true)),
  bitrate: countOrNull,
  language: textOrNull(256),
  title: textOrNull(4_096),
});

export const mediaInfo = Type.Object({
  type: mediaType,
  /** The forced ffmpeg demuxer. */
  demuxer: text(64),
  duration: count(),
  startPts: ticks,
  video: Type.Union([videoStream, Type.Null()]),
  audio: Type.Array(audioStream, { maxItems: MAX_STREAMS }),
  /** Start timecode `HH:MM:SS:FF` (`;` before the frames for drop-frame); null if the file has none. */
  timecode: textOrNull(32),
});

export const sniffedMedia = Type.Object({
  type: mediaType,
  extension: Type.String({ pattern: "^[a-z0-9]{1,16}$" }),
  contentType: Type.String({ pattern: "^(audio|video)/[A-Za-z0-9.+-]{1,64}$" }),
  demuxer: text(64),
});

export const probeFacts = Type.Object({ info: mediaInfo, sniffed: sniffedMedia });
