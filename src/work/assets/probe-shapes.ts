/** Schemas of probe results, to validate files from workers. */
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

const videoStream = Type.Object({
  codec: text(64),
  width: side,
  height: side,
  codedWidth: side,
  codedHeight: side,
  rotation: Type.Union([Type.Literal(0), Type.Literal(90), Type.Literal(180), Type.Literal(270)]),
  pixelAspect: ratio,
  frameRate: ratio,
  variable: Type.Boolean(),
  bitrate: countOrNull,
  pixelFormat: textOrNull(64),
  bitDepth: count(64),
  color: Type.Object({
    primaries: textOrNull(64),
    transfer: textOrNull(64),
    matrix: textOrNull(64),
    range: Type.Union([Type.Literal("tv"), Type.Literal("pc"), Type.Null()]),
  }),
  interlaced: Type.Boolean(),
});

const audioStream = Type.Object({
  index: count(MAX_STREAMS),
  codec: text(64),
  sampleRate: count(10_000_000),
  channels: count(1_024),
  discrete: Type.Optional(Type.Literal(true)),
  bitrate: countOrNull,
  language: textOrNull(256),
  title: textOrNull(4_096),
});

export const mediaInfo = Type.Object({
  type: mediaType,
  demuxer: text(64),
  duration: count(),
  startPts: ticks,
  video: Type.Union([videoStream, Type.Null()]),
  audio: Type.Array(audioStream, { maxItems: MAX_STREAMS }),
  timecode: textOrNull(32),
});

export const probeFacts = Type.Object({
  info: mediaInfo,
  sniffed: Type.Object({
    type: mediaType,
    extension: Type.String({ pattern: "^[a-z0-9]{1,16}$" }),
    contentType: Type.String({ pattern: "^(audio|video)/[A-Za-z0-9.+-]{1,64}$" }),
    demuxer: text(64),
  }),
});
