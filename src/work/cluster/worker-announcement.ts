/** A worker's announcement when it joins: its version and capabilities. */
import { version } from "../../../package.json";
import { AppError } from "../../domain/errors";
import type { WorkerAnnouncement, WorkerProgram } from "../../domain/worker-messages";
import { WORKER_PROTOCOL } from "../../domain/workers";
import type { AnnouncedWorker, WorkerToken } from "../../store/workers";

/** Returns the error for a worker of another protocol. */
export const refuseProtocol = ({ protocol, version: workerVersion }: WorkerProgram): AppError =>
  new AppError(
    "conflict",
    `Worker has job protocol ${protocol} (Offcut ${workerVersion}), this server has ${WORKER_PROTOCOL} (Offcut ${version}): install the same version on both.`,
  );

/** Returns the row of a worker that joins with a token. */
export const toAnnounced = (token: WorkerToken, announcement: WorkerAnnouncement, now: number): AnnouncedWorker => ({
  token_id: token.id,
  name: token.name,
  version: announcement.version,
  protocol: announcement.protocol,
  jobs: announcement.jobs,
  slots: announcement.slots,
  encoding: announcement.encoding,
  sandbox: announcement.sandbox,
  languages: announcement.languages,
  free_bytes: announcement.freeBytes,
  last_seen_at: now,
});
