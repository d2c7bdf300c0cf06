/** The files that users choose: recordings and their scripts. */

/** Extensions of recordings whose type browsers do not know. */
const EXTENSIONS = [".mkv", ".mxf", ".mts", ".m2ts", ".ts", ".flac", ".opus"];
const SCRIPT_TYPES = ".txt,.md,.markdown,.srt,.vtt,.docx";

/** The value of `accept` of a field for recordings and their scripts. */
export const RECORDING_TYPES = ["video/*", "audio/*", ...EXTENSIONS, SCRIPT_TYPES].join(",");

export const isRecording = ({ name, type }: File): boolean =>
  /^(video|audio)\//.test(type) || EXTENSIONS.some((extension) => name.toLowerCase().endsWith(extension));
