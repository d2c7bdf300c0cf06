/** Composition root: checks the configuration, creates all parts of the server, and starts and stops them in order. */
import { chmodSync, existsSync, unlinkSync } from "node:fs";
import { openDiskReserve } from "./blobs/folder-space";
import { createMediaFolders } from "./blobs/folders";
import { createSignedLinks } from "./blobs/signed-links";
import { emptyTrash } from "./blobs/trash";
import { createOffsiteAccess, isFull, type OpenDataFolder, openFolder, requireRoomForCommit } from "./boot-folder";
import { drillCommand, openMediaTools } from "./boot-tools";
import { type Config, isExposedWithoutTls, publicUrl } from "./config";
import { getControlSocketPath, hasValidSocketPath } from "./data-folder";
import type { Runner } from "./domain/jobs";
import type { SpeechEngine } from "./domain/speech";
import { isStorageFull } from "./domain/storage-full";
import { createHandler } from "./http/app";
import { createControlHandler } from "./http/control";
import { type ListeningSocket, listen, listenOnSocket } from "./http/listen";
import { anyFileSystem } from "./lib/file-systems";
import type { Log } from "./lib/log";
import { killAllChildren } from "./lib/process";
import { createSealer } from "./lib/sealer";
import { withTimeLimit } from "./lib/time-limit";
import { createFullDiskError } from "./media-folder";
import { createLimitedResolver, createResolver } from "./outbound/dns";
import { createOidcClient } from "./outbound/oidc";
import { openPayments } from "./outbound/payments";
import { createRunner, TIME_SLICE_MS } from "./queue/runner";
import { formatDatabaseDamage } from "./store/database-file";
import { createCursors } from "./store/paging";
import { createBackgroundWork } from "./work/background";
import { createBackups } from "./work/backup/backups";
import { freeSpace } from "./work/backup/space-keeper";
import { openCluster } from "./work/cluster/cluster";
import { createWorkerList } from "./work/cluster/worker-list";
import { openConfirmedTime } from "./work/confirmed-time";
import { createPlanRequests } from "./work/cuts/plan-requests";
import { createBatchExports } from "./work/exports/batch-exports";
import { createServerCounters } from "./work/health/counters";
import { readMetrics } from "./work/health/metrics";
import { createHealthProbes } from "./work/health/probes";
import { type DiskState, readDisk, readSystemHealth } from "./work/health/system-health";
import { createPasswords } from "./work/identity/passwords";
import { openSessionKeys } from "./work/identity/session-keys";
import { createSessions } from "./work/identity/sessions";
import { openSetup } from "./work/identity/setup";
import { createSignInLimits } from "./work/identity/sign-in-limits";
import { openPlanChild } from "./work/job-child/plan-child";
import { createJobSource } from "./work/jobs/job-source";
import type { MediaTools } from "./work/jobs/media-tools";
import { createJobHandlers } from "./work/jobs/registry";
import { createLiveEvents } from "./work/live/events";
import { createPartialTranscripts } from "./work/live/partial-transcripts";
import { createPresence } from "./work/live/presence";
import { createLiveStreams } from "./work/live/streams";
import { createMails } from "./work/mail/mails";
import { createPieces } from "./work/previews/pieces";
import { recover, recoverFiles } from "./work/recovery";
import type { Services } from "./work/services";
import { createAlerts } from "./work/upkeep/alerts";
import { createFileRestores } from "./work/upkeep/file-restores";

/** Parts of the server that a caller replaces. The server closes `speech` when it stops. */
export type ServerOverrides = {
  speech?: SpeechEngine;
  now?: () => number;
  confirmedNow?: () => number;
  timeSliceMs?: number;
  /** Starts a restored backup, instead of this program. */
  drillCommand?: string[];
  /** The data folder belongs to a drill: the server listens on this socket only, runs no jobs, and sends nothing. */
  drillSocket?: string;
  /** The disk that alerts monitor. */
  readDisk?: () => Promise<DiskState>;
};

/** Time for running requests when the server stops. */
const DRAIN_MS = 10_000;

/** Starts the server. Throws `ConfigError` when the folder or the port is in use, or the certificate is invalid. */
export async function startServer(config: Config, log: Log, overrides: ServerOverrides = {}) {
  const opened = await openFolder(config, {
    onStep: (step) => log.info("database.migrating", { step }),
    onFull: async (folders) => {
      const entries = await emptyTrash(folders, () => isFull(folders.root));
      if (entries > 0) log.warn("trash.emptied_early", { entries });
    },
    ...(overrides.drillSocket === undefined ? {} : { readType: anyFileSystem }),
  });
  try {
    return await serve(config, log, opened, overrides);
  } catch (error) {
    await opened.close();
    if (isStorageFull(error)) throw createFullDiskError(opened.path);
    throw error;
  }
}

export type RunningServer = Awaited<ReturnType<typeof startServer>>;

async function serve(config: Config, log: Log, opened: OpenDataFolder, overrides: ServerOverrides) {
  const { path, folders, assets, store, secrets } = opened;
  const { guard } = folders;
  if (guard.findProblem() === null) await createMediaFolders(folders);
  let url = "";
  const liveEvents = createLiveEvents({ store, log });
  const now = overrides.now ?? Date.now;
  const sessionKeys = openSessionKeys(secrets.sessions, { now, log, save: opened.saveSessionKeys });
  const sealer = createSealer(secrets.sealing);
  const disk = openDiskReserve(folders, config.diskReserveBytes);
  const tools: MediaTools = {
    ...(await openMediaTools(config, assets, path, { speech: overrides.speech ?? null, log })),
    temporaryFolder: folders.workRoot,
    maxFileBytes: disk.maxFileBytes,
  };
  // Trying encoders takes a second of a core, which only a configured one is worth before the first render.
  if (config.encoder !== null)
    void tools.encoder().catch((error: Error) => log.warn("encoder.unusable", { reason: error.message }));
  const slots = { prepare: config.prepareJobs, cut: config.cutJobs, render: config.renderJobs, preview: 1 };
  const probes = createHealthProbes(config, {
    db: store.read,
    base: () => url,
    backups: () => services.backups,
    isRedisReachable: () => services.cluster?.isReachable(),
  });
  const clock = overrides.now ?? (() => performance.now());
  const workerList = createWorkerList({ store, log, now, clock });
  const offsite = createOffsiteAccess(config, opened);
  const readWatchedDisk = overrides.readDisk ?? (() => readDisk(services));
  const confirmedTime = await openConfirmedTime({ store, now });
  const { confirmedNow = confirmedTime.get } = overrides;
  const core = { config, store, folders, disk, log, now, confirmedNow };
  const services: Services = {
    ...core,
    links: createSignedLinks(secrets.links, () => url),
    cursors: createCursors(secrets.cursors),
    passwords: createPasswords(),
    sessions: createSessions({ store, keys: sessionKeys, now }),
    setup: openSetup({ folder: path, store, publicUrl: () => url }),
    signInLimits: createSignInLimits(now),
    mails: createMails({ isConfigured: config.smtpUrl !== null, sealer, log }),
    liveEvents,
    liveStreams: createLiveStreams({ store, live: liveEvents }),
    presence: createPresence({ live: liveEvents }),
    partialTranscripts: createPartialTranscripts(),
    batchExports: createBatchExports(),
    sealer,
    oidc: createOidcClient(now),
    payments: await openPayments(config, { now, log }),
    runner: idleRunner,
    resolverFor: createLimitedResolver(createResolver({ servers: config.dnsServers })),
    planRequests: createPlanRequests((dir) => openPlanChild(tools, [dir])),
    pieces: createPieces(tools, core),
    webDir: assets.webDir,
    licensesPath: assets.licenses,
    ffmpegPath: tools.ffmpeg.path,
    publicUrl: () => url,
    backups: createBackups({ ...core, drillCommand: overrides.drillCommand ?? drillCommand(), offsite }),
    fileRestores: createFileRestores({ ...core, offsite }),
    alerts: createAlerts({ ...core, clock, workerList, readDisk: readWatchedDisk }),
    workerList,
    cluster: null,
    counters: createServerCounters(),
    readMetrics: () => readMetrics(services, { slots, probes }),
    readHealth: () => readSystemHealth(services, { tools, slots, probes }),
  };
  const { timeSliceMs = TIME_SLICE_MS } = overrides;
  const cluster = await openCluster(services, tools, { secret: secrets.links, slots });
  services.cluster = cluster;
  services.runner = createRunner({
    source: createJobSource(services),
    handlers: createJobHandlers(services, tools, cluster?.remote),
    slots,
    otherPlaces: cluster?.places,
    log,
    timeSliceMs,
  });

  store.onDamage((problem) => log.error("database.damaged", { problem, advice: formatDatabaseDamage(problem) }));
  store.onCommit(services.liveStreams.wake);
  store.onCommit(liveEvents.wake);
  const background = createBackgroundWork(services, tools, confirmedTime);

  const handler = await createHandler(services);
  const { drillSocket = null } = overrides;
  const server = drillSocket === null ? listen(config, handler) : listenOnSocket(drillSocket, handler);
  url = publicUrl(config, server.port ?? config.port);
  if (isExposedWithoutTls(config)) {
    log.warn("server.exposed_without_tls", {
      host: config.host,
      advice:
        "API keys and recordings are sent unencrypted: set tls_cert and tls_key, or listen on 127.0.0.1 behind a TLS proxy",
    });
  }
  const control = await listenOnControlSocket(path, createControlHandler(services, log), log);

  const atStart = guard.findProblem();
  if (atStart !== null) log.error("folder.offline", { folder: atStart.folder, about: atStart.about });
  if (drillSocket === null) {
    // A full disk must not prevent the start as long as deleted files can make room.
    await freeSpace(services);
    // Without interrupted work, recovery writes nothing that would fail.
    requireRoomForCommit(path);
    await recover(services);
    guard.onChange((problem) => {
      if (problem !== null) return log.error("folder.offline", { folder: problem.folder, about: problem.about });
      log.info("folder.online");
      services.runner.wake();
      void recoverFiles(services, false).catch((error) => log.error("files.recovery_failed", { error }));
    });
    cluster?.start();
    services.runner.start();
    background.start();
    services.workerList.start();
  }
  guard.start();

  return {
    port: server.port ?? config.port,
    url,
    dataDir: path,
    /** For programs that embed the server. */
    services,
    tools,
    stop: async () => {
      // Event streams would not end in time.
      services.liveStreams.stop();
      services.presence.stop();
      // New connections are refused immediately; running requests may complete.
      const drained = server.stop(false);
      control?.stop(true);
      // Jobs are requeued at the same time, so that a supervisor that kills the server during the wait does not cause
      // an unclean exit.
      await Promise.all([
        withTimeLimit(drained, DRAIN_MS, () => {}),
        services.runner.stop(),
        background.stop(),
        services.backups.stop(),
        services.fileRestores.stop(),
      ]);
      await server.stop(true);
      liveEvents.stop();
      await cluster?.stop();
      await services.workerList.stop();
      services.pieces.stop();
      await tools.speech.close();
      await killAllChildren();
      guard.stop();
      await opened.close();
    },
  };
}

const idleRunner: Runner = { start: () => {}, wake: () => {}, cancel: () => {}, stop: async () => {} };

async function listenOnControlSocket(
  folder: string,
  handler: (request: Request) => Promise<Response>,
  log: Log,
): Promise<ListeningSocket | null> {
  const socket = getControlSocketPath(folder);
  if (!hasValidSocketPath(folder)) {
    log.warn("control_socket.unavailable", {
      path: socket,
      advice: "the path of the data folder is too long: stop the server before running offcut user or offcut key",
    });
    return null;
  }
  // A leftover of a killed server, because this process holds the lock of the folder.
  if (existsSync(socket)) unlinkSync(socket);
  const server = Bun.serve({
    unix: socket,
    // A backup takes longer than a connection may be idle.
    fetch: (request, server) => {
      server.timeout(request, 0);
      return handler(request);
    },
  });
  chmodSync(socket, 0o600);
  return { stop: (force) => server.stop(force) };
}
