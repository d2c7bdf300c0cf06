/**
 * The words of a shared render: the captions of its player, and the transcript of its page. They contain nothing of the
 * recording that the render does not say.
 */
import { AppError, queueFull } from "../domain/errors";
import { createByteCache } from "../lib/byte-cache";
import { createFairSemaphore } from "../lib/fair-semaphore";
import { findCutById } from "../store/cuts";
import type { Render } from "../store/renders";
import { createSubtitle, createTranscriptFile } from "../work/cuts/plan-files";
import type { Services } from "../work/services";

type SharedText = "captions" | "transcript";

const MAX_KEPT_BYTES = 4 * 1024 ** 2;
/** Bytes that an entry takes besides its text. */
const ENTRY_BYTES = 200;
/** Time after which a text that could not be created is tried again. */
const RETRY_MS = 60_000;
/** Visitors leave the owner a slot for edits and exports, and a slot to others. */
const LIMITS = { maxRunning: 2, maxRunningPerKey: 1, maxWaiting: 64, maxWaitingPerKey: 16, maxWaitMs: 60_000 };

/**
 * The texts that were read last, by render: people without an account start no child process each time they open a
 * page. A cut never changes, and pages look up the render first.
 */
const kept = createByteCache<{ text: string | null; until: number }>(MAX_KEPT_BYTES);
/** Texts that are being created, by the same key: all visitors wait for the same one. */
const creating = new Map<string, Promise<string | null>>();
const turns = createFairSemaphore(LIMITS, () => queueFull("transcripts are waiting", false, RETRY_MS / 1000));

/**
 * Returns a text of a render: captions as WebVTT, or a transcript whose paragraphs have a blank line between them and
 * begin with their time. Returns null for a render of the whole recording, without a transcript, and for a minute after
 * the text could not be created. Errors: those of `PlanRequests`.
 */
export async function readSharedText(services: Services, render: Render, which: SharedText): Promise<string | null> {
  const key = `${render.id} ${which}`;
  const found = kept.get(key);
  if (found !== undefined && Date.now() < found.until) return found.text;
  const keep = (text: string | null, until: number) =>
    kept.set(key, { text, until }, ENTRY_BYTES + 2 * (text?.length ?? 0));
  const create = async () => {
    try {
      const text = await turns.run(render.workspace_id, () => createText(services, render, which));
      keep(text, Number.POSITIVE_INFINITY);
      return text;
    } catch (error) {
      // A busy server says nothing about the text.
      if (!(error instanceof AppError && error.details.retryAfterSeconds !== undefined))
        keep(null, Date.now() + RETRY_MS);
      throw error;
    } finally {
      creating.delete(key);
    }
  };
  const text = creating.get(key) ?? create();
  creating.set(key, text);
  return text;
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
