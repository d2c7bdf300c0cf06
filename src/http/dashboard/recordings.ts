/** Recordings as the library shows them: with their newest cut and render, read together for a page. */
import { toSeconds } from "../../domain/time";
import type { Asset } from "../../store/assets";
import type { Queries } from "../../store/db";
import { type RecordingFacts, readRecordingFacts } from "../../store/library";
import { readProgress } from "../../store/steps";
import type { Call } from "../call";
import { formatTime } from "../format-time";
import { showAssetDetail } from "../public/assets";
import type { Resource } from "../schemas";

/** `progress`: that of the recordings, cuts and renders of the page, by ID. */
export type Recording = { row: Asset; facts: RecordingFacts; progress: ReadonlyMap<string, number> };

/** Reads what the library shows of these assets. */
export async function readRecordings(db: Queries, workspaceId: string, rows: Asset[]): Promise<Recording[]> {
  const found = await readRecordingFacts(
    db,
    workspaceId,
    rows.map(({ id }) => id),
  );
  const running = rows.flatMap(({ id, state }) => {
    const { openCut, lastRender } = found.get(id)!;
    return [state === "processing" && id, openCut?.id, lastRender?.completed_at === null && lastRender.id];
  });
  const progress = await readProgress(
    db,
    running.filter((id) => typeof id === "string"),
  );
  return rows.map((row) => ({ row, facts: found.get(row.id)!, progress }));
}

export async function showRecording(call: Call, recording: Recording): Promise<Resource<"ListedAsset">> {
  const { row, facts, progress } = recording;
  const { latestCut, openCut, lastRender } = facts;
  const toProgress = (id: string) => progress.get(id) ?? null;
  return {
    ...(await showAssetDetail(call, row, { hasLinks: false, progress: toProgress(row.id) })),
    latest_cut: latestCut && {
      id: latestCut.cut_id,
      kept_duration: latestCut.kept === null ? null : toSeconds(latestCut.kept),
      open_marks: latestCut.open_marks,
    },
    open_cut: openCut && { ...openCut, progress: toProgress(openCut.id) },
    last_render: lastRender && {
      ...lastRender,
      progress: toProgress(lastRender.id),
      completed_at: formatTime(lastRender.completed_at),
    },
  };
}
