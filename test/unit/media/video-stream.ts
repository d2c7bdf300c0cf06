/** An ordinary video stream, as probing describes it. */
import type { VideoStream } from "../../../src/domain/media";

export const VIDEO: VideoStream = {
  codec: "h264",
  width: 1920,
  height: 1080,
  codedWidth: 1920,
  codedHeight: 1080,
  rotation: 0,
  bitDepth: 8,
  pixelAspect: { num: 1, den: 1 },
  frameRate: { num: 25, den: 1 },
  variable: false,
  bitrate: null,
  pixelFormat: "yuv420p",
  interlaced: false,
  color: { primaries: null, transfer: null, matrix: null, range: null },
};
