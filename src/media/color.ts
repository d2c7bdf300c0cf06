/** Color: the tags of the output, and tone mapping from HDR to SDR. Pure. */
import type { VideoStream } from "../domain/media";

const HDR_TRANSFERS: readonly string[] = ["smpte2084", "arib-std-b67"];

/** Names that every ffmpeg version accepts as options. Other values are left untagged. */
const PRIMARIES: readonly string[] = ["bt709", "bt470bg", "smpte170m", "smpte240m", "bt2020"];
const TRANSFERS: readonly string[] = ["bt709", "smpte170m", "smpte240m", "iec61966-2-1", "bt2020-10", "bt2020-12"];
const MATRICES: readonly string[] = ["bt709", "bt470bg", "smpte170m", "smpte240m", "bt2020nc"];

export const isHdr = (video: VideoStream): boolean => HDR_TRANSFERS.includes(video.color.transfer ?? "");

export const isRgb = (video: VideoStream): boolean =>
  /^(rgb|bgr|gbr|argb|abgr|0rgb|0bgr|pal8)/.test(video.pixelFormat ?? "");

/** Returns the filters that convert to 8-bit BT.709. Without zscale, HDR is not tone-mapped. */
export function buildColorFilters(video: VideoStream, hasZscale: boolean): string[] {
  if (isRgb(video)) return ["scale=out_color_matrix=bt709:out_range=tv"];
  if (!isHdr(video) || !hasZscale) return [];
  const matrix = MATRICES.includes(video.color.matrix ?? "") ? video.color.matrix : "bt2020nc";
  const from = { smpte2084: "smpte2084", "arib-std-b67": "arib-std-b67" }[video.color.transfer ?? ""];
  const input = `tin=${from}:pin=bt2020:min=${matrix === "bt2020nc" ? "bt2020nc" : "bt709"}:rin=${video.color.range === "pc" ? "pc" : "tv"}`;
  return [
    `zscale=${input}:t=linear:npl=100`,
    "format=gbrpf32le",
    "zscale=p=bt709",
    "tonemap=tonemap=hable:desat=0",
    "zscale=t=bt709:m=bt709:r=tv",
  ];
}

/**
 * Returns the color tags of the output. Players guess the matrix of untagged video from its size. If the resized output
 * would lead to another guess, the guess for the source is written as a tag.
 */
export function buildColorArguments(video: VideoStream, output: { width: number; height: number }): string[] {
  if (isHdr(video) || isRgb(video)) return buildTagArguments("bt709", "bt709", "bt709", "tv");
  const { primaries, transfer, matrix, range } = video.color;
  const keepKnown = (names: readonly string[], name: string | null) =>
    name !== null && names.includes(name) ? name : null;
  const sourceGuess = guessMatrix(video.codedWidth, video.codedHeight);
  const guessChanges = matrix === null && sourceGuess !== guessMatrix(output.width, output.height);
  return buildTagArguments(
    keepKnown(PRIMARIES, primaries),
    keepKnown(TRANSFERS, transfer),
    guessChanges ? sourceGuess : keepKnown(MATRICES, matrix),
    range === null ? null : "tv",
  );
}

/** The names of matrices in the filter `scale`. */
const SCALE_MATRICES: Record<string, string> = {
  bt709: "bt709",
  bt470bg: "bt601",
  smpte170m: "bt601",
  smpte240m: "smpte240m",
  bt2020nc: "bt2020",
};

/** Returns the matrix and range of the video's pixels, or those that players assume for its size if it has no tags. */
export const findPixelColors = (video: VideoStream): PixelColors => ({
  matrix: SCALE_MATRICES[video.color.matrix ?? guessMatrix(video.codedWidth, video.codedHeight)] ?? "bt709",
  range: video.color.range ?? "tv",
});

/** Returns the matrix and range of the pixels of an output with the tags of `buildColorArguments`. */
export const findOutputColors = (video: VideoStream): PixelColors => ({
  matrix: isHdr(video) || isRgb(video) ? "bt709" : findPixelColors(video).matrix,
  range: "tv",
});

/** `matrix` is a name of the filter `scale`. */
export type PixelColors = { matrix: string; range: "tv" | "pc" };

/**
 * Returns the filters that scale to a JPEG, whose colors are BT.601 with the full range. `size` is in the syntax of the
 * filter `scale`. They go through RGB, because old versions of ffmpeg convert between two kinds of luma and chroma with
 * a wrong range.
 */
export const buildJpegFilters = (size: string, { matrix, range }: PixelColors): string[] => [
  `scale=${size}:in_color_matrix=${matrix}:in_range=${range}`,
  "format=rgb24",
];

/** The filters at the end of a chain that starts with `buildJpegFilters`. */
export const JPEG_FORMAT_FILTERS: readonly string[] = ["scale=out_color_matrix=bt601:out_range=pc", "format=yuvj420p"];

const guessMatrix = (width: number, height: number): string => (width > 1024 || height > 576 ? "bt709" : "smpte170m");

/** `values`: primaries, transfer, matrix and range. */
const buildTagArguments = (...values: (string | null)[]): string[] =>
  ["-color_primaries", "-color_trc", "-colorspace", "-color_range"].flatMap((option, n) => {
    const value = values[n] ?? null;
    return value === null ? [] : [option, value];
  });
