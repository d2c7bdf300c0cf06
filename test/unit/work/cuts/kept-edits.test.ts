/** Edits of an earlier cut whose stored data is damaged. */
import { expect, test } from "bun:test";
import { getMediaFolder } from "../../../../src/blobs/folders";
import type { ProbedMedia } from "../../../../src/domain/media";
import { CUT_MODES, MANUAL_OPTIONS } from "../../../../src/domain/plan";
import type { PlanJson } from "../../../../src/domain/plan-json";
import { writeProbed } from "../../../../src/work/assets/prepared-files";
import { keepEdits } from "../../../../src/work/cuts/kept-edits";
import { createEditedPlan } from "../../../../src/work/cuts/plan-outputs";
import { packBasis, packTexts } from "../../../../src/work/cuts/stored-basis";
import { temporaryFolder } from "../../../temporary-folder";

const segment = { start: 0, end: 10, start_frame: null, end_frame: null, text: "so it is", review: null };
const PLAN: PlanJson = {
  segments: [segment],
  removed: [],
  takes: [],
  missing: [],
  warnings: [],
  source_duration: 10,
  kept_duration: 10,
  frame_rate: null,
  language: "en",
};
const BASIS = { spans: [], wordPauses: [], edgeMargin: 0, texts: [], frames: null };
const TEXTS = [{ start: 1, end: 3, text: "so it was" }];
const RECORDING = {
  words: [{ text: "so", start: 1_000_000, end: 2_000_000, confidence: 1 }],
  probed: { info: { duration: 10_000_000 }, frames: null } as ProbedMedia,
};

function keep(basis: string | null, options = MANUAL_OPTIONS) {
  const { plan, texts } = keepEdits(PLAN, BASIS, { plan: JSON.stringify(PLAN), basis, options }, RECORDING);
  return { warnings: plan.warnings, texts };
}

/** Flips a bit of the texts. */
function damage(packed: string): string {
  const bytes = Buffer.from(packed, "base64");
  bytes[bytes.length - 1]! ^= 1;
  return bytes.toString("base64");
}

test("damaged texts of a cut by hand are reported", () => {
  const packed = packTexts(TEXTS)!;
  expect(keep(packed)).toEqual({ warnings: [], texts: TEXTS });
  const warnings = ["The corrected texts were not kept: they are damaged."];
  expect(keep(damage(packed))).toEqual({ warnings, texts: [] });
});

test("a damaged basis is reported as such, and a missing one as that of an older version", () => {
  const notKept = (why: string) => ({ warnings: [`The edits were not kept: ${why}.`], texts: [] });
  const damaged = damage(packBasis(BASIS, PLAN));
  expect(keep(damaged, CUT_MODES.natural)).toEqual(notKept("the stored data of their cut is damaged"));
  for (const older of [null, packTexts(TEXTS)])
    expect(keep(older, CUT_MODES.natural)).toEqual(notKept("their cut was made by an older version"));
});

test("an edit of a cut whose texts are damaged says that they are lost", async () => {
  await using folder = await temporaryFolder();
  const paths = getMediaFolder(folder.path);
  await writeProbed(paths.probed, RECORDING.probed);
  const edit = { segments: [{ start: 0, end: 5 }], texts: [] };
  const warningsOf = async (basis: string) => {
    const edited = await createEditedPlan({ paths, plan: JSON.stringify(PLAN), name: "a.mp4" }, { basis }, edit);
    return (JSON.parse(edited.plan) as PlanJson).warnings;
  };
  const packed = packTexts(TEXTS)!;
  expect(await warningsOf(packed)).toEqual([]);
  expect(await warningsOf(damage(packed))).toEqual([
    "Earlier text corrections are damaged: a new cut will not have them.",
  ]);
});
