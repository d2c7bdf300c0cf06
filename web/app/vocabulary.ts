/** Changes of the vocabulary of a workspace or a project. */
import {
  cleanTerm,
  listVocabularyProblems,
  MAX_TERM_CHARACTERS,
  toFormKey,
  trimPunctuation,
  type VocabularyEntry,
} from "../../src/domain/vocabulary/entries";
import { ApiError, api, must } from "./api";
import { client } from "./query-client";
import { toWorkspaceHeader, workspace } from "./session";
import { showFailure, showToast } from "./toasts";

/** Owner of a vocabulary. `projectId`: null for the vocabulary of the workspace. */
export type VocabularyOwner = { workspaceId: string; projectId: string | null };

export type Vocabulary = { entries: VocabularyEntry[]; revision: number };

export const vocabularyKey = ({ workspaceId, projectId }: VocabularyOwner) => ["vocabulary", workspaceId, projectId];

const toParams = ({ workspaceId, projectId }: VocabularyOwner) => ({
  params: { query: projectId === null ? {} : { project_id: projectId } },
  headers: toWorkspaceHeader(workspaceId),
});

export const readVocabulary = (owner: VocabularyOwner, signal?: AbortSignal): Promise<Vocabulary> =>
  must(api.GET("/api/v1/vocabulary", { ...toParams(owner), signal: signal ?? null }));

/** Number of times that a change is made again because somebody else has saved another one. */
const MAX_ATTEMPTS = 4;

/**
 * Changes the vocabulary and saves it. If another user has saved it in the meantime, the change is applied to their
 * version. Throws `ApiError`, also for entries that are not valid.
 */
export async function changeVocabulary(
  owner: VocabularyOwner,
  change: (entries: readonly VocabularyEntry[]) => VocabularyEntry[],
): Promise<Vocabulary> {
  for (let attempt = 1; ; attempt++) {
    const { entries: before, revision } = await readVocabulary(owner);
    const entries = change(before);
    requireValid(entries);
    try {
      const saved = await must(api.PUT("/api/v1/vocabulary", { ...toParams(owner), body: { revision, entries } }));
      client.setQueryData<Vocabulary>(vocabularyKey(owner), saved);
      return saved;
    } catch (error) {
      if (!(error instanceof ApiError && error.status === 409) || attempt === MAX_ATTEMPTS) throw error;
    }
  }
}

function requireValid(entries: readonly VocabularyEntry[]): void {
  const [problem] = listVocabularyProblems(entries);
  if (!problem) return;
  const { text, spoken_as } = entries[problem.entry] ?? { text: "", spoken_as: [] };
  const form = problem.spoken === null ? text : (spoken_as[problem.spoken] ?? text);
  throw new ApiError(`“${form}” ${problem.message}.`, "validation_error", 422);
}

/**
 * Returns entries with others. Joins the spoken forms of existing terms. A form belongs to the last entry that contains
 * it.
 */
export function addEntries(entries: readonly VocabularyEntry[], added: readonly VocabularyEntry[]): VocabularyEntry[] {
  const byKey = new Map(entries.map((entry) => [toFormKey(entry.text), entry]));
  for (const { text, spoken_as } of added) {
    const forms = new Map(spoken_as.map((form) => [toFormKey(form), cleanTerm(form)]));
    for (const [key, other] of byKey) {
      const rest = other.spoken_as.filter((form) => !forms.has(toFormKey(form)));
      if (rest.length < other.spoken_as.length) byKey.set(key, { ...other, spoken_as: rest });
    }
    const before = byKey.get(toFormKey(text))?.spoken_as ?? [];
    byKey.set(toFormKey(text), { text: cleanTerm(text), spoken_as: [...before, ...forms.values()] });
  }
  return [...byKey.values()];
}

/** Returns a text of the transcript as a form of a vocabulary. */
const toTerm = (text: string): string => cleanTerm(trimPunctuation(text));

/**
 * Returns the recognized text, without the punctuation around it, if it is a common word; null otherwise. That word was
 * usually spoken, so it cannot be a form of a term with other letters.
 */
export async function findCommonForm(
  recognized: string,
  language: string | null,
  signal?: AbortSignal,
): Promise<string | null> {
  const text = toTerm(recognized);
  if (text === "" || [...text].length > MAX_TERM_CHARACTERS) return null;
  const query = { text, ...(language !== null && { language }) };
  const found = await must(api.GET("/api/v1/vocabulary/common-form", { params: { query }, signal: signal ?? null }));
  return found.is_common ? text : null;
}

export const describeCommonForm = (form: string): string =>
  `“${form}” is too common for the vocabulary. Only this cut is corrected.`;

/** Returns whether a correction changes more than case, accents and punctuation. */
export const isOtherTerm = (recognized: string, text: string): boolean => toFormKey(recognized) !== toFormKey(text);

/**
 * Adds a corrected text to the vocabulary of a project of the current workspace, unless another one, which is a common
 * word, was recognized.
 */
export async function addCorrectedTerm(
  projectId: string,
  { recognized, text, language }: { recognized: string; text: string; language: string | null },
): Promise<void> {
  const [form, term] = [toTerm(recognized), toTerm(text)];
  const workspaceId = workspace.peek()?.id;
  if (term === "" || workspaceId === undefined) return;
  const entry = { text: term, spoken_as: form === "" || form === term ? [] : [form] };
  try {
    const common = isOtherTerm(recognized, text) ? await findCommonForm(recognized, language) : null;
    if (common !== null) return showToast({ kind: "info", text: describeCommonForm(common) });
    await changeVocabulary({ workspaceId, projectId }, (entries) => addEntries(entries, [entry]));
    showToast({ kind: "info", text: `“${term}” was added to the project's vocabulary.` });
  } catch (error) {
    showFailure(error);
  }
}
