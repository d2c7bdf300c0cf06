/** The use of files with the tracks of a source or a preview. */
import { expect, test } from "bun:test";
import { join } from "node:path";
import type { MediaFolder } from "../../../../src/blobs/folders";
import { PREVIEW_VERSION, SOURCE_INDEX_VERSION, type SourceFacts } from "../../../../src/domain/preview";
import { readPreviewFacts, readSourceFacts } from "../../../../src/work/previews/files";
import { temporaryFolder } from "../../../temporary-folder";

const audio = {
  mimeType: 'audio/mp4; codecs="mp4a.40.2"',
  timescale: 48_000,
  sampleEntry: "",
  firstRecord: 0,
  sampleCount: 1,
};
const facts: SourceFacts = {
  version: SOURCE_INDEX_VERSION,
  video: null,
  audio,
  storyboard: { interval: 2, count: 30, width: 160, height: 90, columns: 10, rows: 10, sheets: 1 },
};

test.each<[string, string | null, SourceFacts | null]>([
  ["no file", null, null],
  ["this version", JSON.stringify(facts), facts],
  ["an older version: only its storyboard", JSON.stringify({ ...facts, version: 1 }), { ...facts, audio: null }],
  ["a newer version", JSON.stringify({ ...facts, version: SOURCE_INDEX_VERSION + 1 }), { ...facts, audio: null }],
  ["an older version that is damaged", JSON.stringify({ ...facts, version: 1, storyboard: { sheets: -1 } }), null],
  ["a track that cannot be served", JSON.stringify({ ...facts, audio: { ...audio, timescale: 0 } }), null],
  ["half a file", JSON.stringify(facts).slice(0, 40), null],
])("%s", async (_, content, expected) => {
  await using folder = await temporaryFolder();
  const sourceFacts = join(folder.path, "source.json");
  if (content !== null) await Bun.write(sourceFacts, content);
  expect(await readSourceFacts({ sourceFacts } as MediaFolder)).toEqual(expected);
});

test.each<[string, string, object | null]>([
  ["this version", JSON.stringify({ version: PREVIEW_VERSION }), { version: PREVIEW_VERSION }],
  ["an older version", JSON.stringify({ version: 0 }), null],
  ["half a file, which is made again", JSON.stringify({ version: PREVIEW_VERSION }).slice(0, 8), null],
  ["another value", "null", null],
])("the facts of a preview: %s", async (_, content, expected) => {
  await using folder = await temporaryFolder();
  const previewFacts = join(folder.path, "preview.json");
  await Bun.write(previewFacts, content);
  expect(await readPreviewFacts({ previewFacts } as MediaFolder)).toEqual(expected as never);
});
