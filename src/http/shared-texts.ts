/**
 * The words of a shared render: the captions of its player, and the transcript of its page. They contain nothing of the
 * recording that the render does not say.
 */
import { AppError } from "../domain/errors";
import { createByteCache } from "../lib/byte-cache";
import { findCutById } from "../store/cuts";
import type { Render } from "../store/renders";
import { createSubtitle, createTranscriptFile } from "../work/cuts/plan-files";
import type { Services } from "../work/services";

type SharedText = "captions" | "transcript";

const MAX_KEPT_BYTES = 4 * 1024 ** 2;
/** Bytes that an entry takes besides its text. */
const ENTRY_BYTES = 200;

/**
 * The texts that were read last, by render: people without an account start no child process each time they open a
 * page. A cut never changes, and pages look up the render first.
 */
const kept = createByteCache<{ text: string | null }>(MAX_KEPT_BYTES);

/**
 * Returns a text of a render: captions as WebVTT, or a transcript whose paragraphs have a blank line between them and
 * begin with their time. Returns null for a render of the whole recording and without a transcript. Errors: those of
 * `PlanRequests`.
 */
export async function readSharedText(services: Services, render: Render, which: SharedText): Promise<string | null> {
  const key = `${render.id} ${which}`;
  const found = kept.get(key) ?? { text: await createText(services, render, which) };
  kept.set(key, found, ENTRY_BYTES + 2 * (found.text?.length ?? 0));
  return found.text;
}

async function createText(services: Services, { cut_id }: Render, which: SharedText): Promise<string | null> {
  const cut = cut_id === null ? null : await findCutById(services.store.read, cut_id);
  if (cut === null) return null;
  const create =
    which === "captions"
      ? createSubtitle(services, cut, { format: "vtt", timeline: "cut" })
      : createTranscriptFile(services, cut, { format: "txt", hasTimes: true });
  return create.then(
    ({ body }) => body,
    (error: unknown) => {
      if (error instanceof AppError && error.code === "unsupported_format") return null;
      throw error;
    },
  );
}
