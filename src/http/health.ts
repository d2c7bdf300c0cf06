/** Readiness: database, storage and ffmpeg. */
import { statfs } from "node:fs/promises";
import type { Services } from "../work/services";
import { findFileSize } from "../work/uploads";

const MIN_FREE_BYTES = 256 * 1024 * 1024;

export type Readiness = { ready: boolean; database: boolean; storage: boolean; ffmpeg: boolean };

/** Checks each part. */
export async function checkReadiness(services: Pick<Services, "ffmpegPath" | "folders" | "store">): Promise<Readiness> {
  const database = await services.store.isAlive();
  const storage = await statfs(services.folders.root).then(
    (s) => s.bavail * s.bsize > MIN_FREE_BYTES,
    () => false,
  );
  const ffmpeg = (await findFileSize(services.ffmpegPath)) !== null;
  return { ready: database && storage && ffmpeg, database, storage, ffmpeg };
}
