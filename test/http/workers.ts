/** Workers of a server under test, which join without another machine. */
import { version } from "../../package.json";
import type { WorkerAnnouncement } from "../../src/domain/worker-messages";
import { WORKER_PROTOCOL } from "../../src/domain/workers";
import { newId } from "../../src/lib/ids";
import type { WorkerToken } from "../../src/store/workers";
import { COMMAND_ACTOR } from "../../src/work/access/audit";
import type { JoinedWorker } from "../../src/work/cluster/worker-list";
import { createWorkerToken } from "../../src/work/cluster/worker-tokens";
import type { Services } from "../../src/work/services";

export const ANNOUNCEMENT: Omit<WorkerAnnouncement, "bootId"> = {
  protocol: WORKER_PROTOCOL,
  version,
  jobs: ["prepare", "cut", "render"],
  slots: 2,
  encoding: { ffmpeg: "7.1", libavutil: 59, encoder: "libx264", hasZscale: true },
  sandbox: { mode: "bwrap", reason: null },
  languages: ["en"],
  freeBytes: 50_000_000_000,
};

export type TestWorker = {
  worker: JoinedWorker;
  token: WorkerToken;
  secret: string;
  beat(freeBytes?: number): JoinedWorker | null;
};

/** Creates a token and joins with it. */
export async function joinWorker(services: Services, name: string): Promise<TestWorker> {
  const { store, workerList, now } = services;
  const { token, secret } = await store.write((tx) => createWorkerToken(tx, COMMAND_ACTOR, name, now()));
  const worker = await workerList.join(token, { ...ANNOUNCEMENT, bootId: newId() });
  const boot = { workerId: worker.id, bootId: worker.announcement.bootId };
  return {
    worker,
    token,
    secret,
    beat: (freeBytes = ANNOUNCEMENT.freeBytes) => workerList.heartbeat(token, { ...boot, freeBytes, running: [] }),
  };
}
