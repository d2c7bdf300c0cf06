/** Versions of a cut: names and notes, and edited cuts that were saved in the place of others. */
import { conflict, requireFound } from "../../domain/errors";
import { type Cut, findCut, findCutVersion, listSupersededBefore, updateCut } from "../../store/cuts";
import type { Queries } from "../../store/db";
import { findUserById, formatUserName } from "../../store/users";
import { removeCut } from "../assets/deletion";
import type { CoreNeeds } from "../needs";
import type { PipelineNeeds } from "../pipelines/pipelines";
import { requireRoomForText } from "../storage/limits";
import type { CutLabel } from "./new-cuts";

/** Returns the name of a user for a message. */
export async function readAuthor(tx: Queries, userId: string | null): Promise<string> {
  const user = userId === null ? null : await findUserById(tx, userId);
  return (user && formatUserName(user)) ?? "Another user";
}

/** Formats a time for a message, such as `2027-01-31 18:04 UTC`. */
export const formatMessageTime = (ms: number): string =>
  `${new Date(ms).toISOString().slice(0, 16).replace("T", " ")} UTC`;

/**
 * Throws `AppError` `not_found` if the cut was deleted, `conflict` with who and when if another one was saved in its
 * place.
 */
export async function requireCurrent(tx: Queries, { id }: Pick<Cut, "id">): Promise<void> {
  const version = requireFound(await findCutVersion(tx, id), "Cut");
  if (version.superseded_by === null) return;
  const next = await findCutVersion(tx, version.superseded_by);
  const author = await readAuthor(tx, next?.created_by ?? null);
  const time = formatMessageTime(next?.created_at ?? version.superseded_at ?? 0);
  throw conflict(`${author} saved this version on ${time}. Load it, or save your edits as a new version.`);
}

/** Changes the name or the note of a cut. Errors: `conflict` (quota), `not_found`. */
export const renameCut = (services: CoreNeeds, { workspace_id, id }: Cut, label: Partial<CutLabel>): Promise<Cut> =>
  services.store.write(async (tx) => {
    const old = requireFound(await findCut(tx, workspace_id, id), "Cut");
    if (Object.keys(label).length === 0) return old;
    const texts = ({ name, note }: CutLabel) => [name, note];
    await requireRoomForText(services, tx, workspace_id, texts({ ...old, ...label }), texts(old));
    return requireFound(await updateCut(tx, id, label), "Cut");
  });

/** Time for which a superseded cut is kept for pages that still show it. */
const SUPERSEDED_KEPT_MS = 24 * 3600 * 1000;
const CUTS_PER_SWEEP = 500;

/** Deletes the superseded cuts of the last days that no render uses. Errors: those of `removeCut`. */
export async function sweepSupersededCuts(services: PipelineNeeds): Promise<void> {
  const before = services.confirmedNow() - SUPERSEDED_KEPT_MS;
  for (const id of await listSupersededBefore(services.store.read, before, CUTS_PER_SWEEP))
    await removeCut(services, id);
}
