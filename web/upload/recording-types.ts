/**
 * The files that users choose: recordings and their scripts. The server detects the type of a file from its first
 * bytes, so only files that are certainly neither are refused.
 */

/** Most have no type in browsers, depending on the system. */
const VIDEO =
  "mp4 m4v mov 3gp 3g2 f4v mj2 mkv webm mts m2ts m2t ts mod tod avi flv mpg mpeg vob asf wmv mxf ogv ogm ogx".split(
    " ",
  );
const AUDIO = "m4a m4b mka wma ogg oga opus spx wav mp3 mp2 flac aac ac3 aif aiff caf amr ape wv".split(" ");
const RECORDINGS = [...VIDEO, ...AUDIO];
const SCRIPTS = ["txt", "md", "markdown", "srt", "vtt", "docx"];
/** Pictures, documents, archives, and files that cameras and editors write beside recordings. */
const OTHERS =
  "7z bdm bim bmp bup cpi csv db dmg dng doc drp edl exe fcpxml gif gz heic htm html ifo ini iso jpeg jpg json key log m3u m3u8 mpl numbers odp ods odt otio pages pdf pek png ppt pptx prproj psd rar rtf smi svg tar tgz thm tif tiff url webp xls xlsx xml xmp zip".split(
    " ",
  );
const OTHER_TYPES =
  /^(image|text|font)\/|^application\/(pdf|json|xml|zip|gzip|rtf|msword|vnd\.(ms-(excel|powerpoint)|oasis|openxmlformats))/;

/** The value of `accept` of a field for recordings and their scripts. */
export const RECORDING_TYPES = ["video/*", "audio/*", ...[...RECORDINGS, ...SCRIPTS].map((name) => `.${name}`)].join();

/** The value of `accept` of a field for scripts. */
export const SCRIPT_TYPES = [...SCRIPTS.map((name) => `.${name}`), "text/plain"].join();

const toExtension = (name: string): string => name.slice(name.lastIndexOf(".") + 1).toLowerCase();

export const isScript = ({ name }: { name: string }): boolean => SCRIPTS.includes(toExtension(name));

/** Returns whether a file has the name of a recording without video. */
export const isNamedAsAudio = ({ name }: { name: string }): boolean => AUDIO.includes(toExtension(name));

/** Returns whether a file has the name of a recording. Others may be recordings, too. */
export const isNamedAsRecording = ({ name }: { name: string }): boolean => RECORDINGS.includes(toExtension(name));

/** Name of the file in which macOS stores the icon of a folder. It seems to be empty. */
const FOLDER_ICON = "Icon\r";

/**
 * Returns whether a file is surely neither a recording nor a script. A known extension takes precedence over the
 * browser's type, which may be a text type for `.ts`.
 */
export function isOther({ name, type }: Pick<File, "name" | "type">): boolean {
  if (isNamedAsRecording({ name }) || isScript({ name })) return false;
  return OTHERS.includes(toExtension(name)) || OTHER_TYPES.test(type) || name === FOLDER_ICON;
}

/**
 * The first bytes of PDF, ZIP, RAR, 7z, gzip, PNG, JPEG, GIF, TIFF, RTF, XML, HTML and programs. The server refuses
 * them as recordings.
 */
const OTHER_HEADS = [
  ...["%PDF-", "PK\x03\x04", "Rar!", "7z\xbc\xaf", "\x1f\x8b\b\0", "\x1f\x8b\b\b", "\x89PNG", "GIF8", "II*\0", "MM\0*"],
  ...["\xff\xd8\xff\xdb", "\xff\xd8\xff\xe0", "\xff\xd8\xff\xe1", "\xff\xd8\xff\xee", "{\\rtf", "<?xml", "<html"],
  ...["<!doctype", "<!DOCTYPE", "MZ\x90\0", "\x7fELF"],
];

/** Returns whether a file begins like one that is surely no recording, whatever its name is. */
export async function isOtherInside(file: Blob): Promise<boolean> {
  const bytes = await file
    .slice(0, 16)
    .arrayBuffer()
    .catch(() => new ArrayBuffer(0));
  const head = String.fromCharCode(...new Uint8Array(bytes));
  return OTHER_HEADS.some((other) => head.startsWith(other));
}

/** Maximum number of files that are read at the same time. */
const MAX_READS = 4;
/**
 * Time after which files that could not be read yet, such as those on a slow network share, count as possible
 * recordings.
 */
const READ_MS = 1_000;

/** Returns which files are surely neither recordings nor scripts, by their names, types and first bytes. */
export async function findOthers(files: readonly File[]): Promise<ReadonlySet<File>> {
  const others = new Set(files.filter(isOther));
  const unread = files.filter((file) => !isScript(file) && !others.has(file)).values();
  const timeout = new Promise<null>((resolve) => setTimeout(resolve, READ_MS, null));
  const read = async () => {
    for (const file of unread) {
      const isFound = await Promise.race([isOtherInside(file), timeout]);
      if (isFound === null) return;
      if (isFound) others.add(file);
    }
  };
  await Promise.all(Array.from({ length: MAX_READS }, read));
  return others;
}
