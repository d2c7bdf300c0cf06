/** Composition root: checks the configuration, creates all parts of the server, and starts and stops them in order. */
import { chmodSync, existsSync, unlinkSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { getFolders } from "./blobs/folders";
import { createSignedLinks } from "./blobs/signed-links";
import { type Config, ConfigError, getMailSender, isExposedWithoutTls, publicUrl } from "./config";
import { type DataFolder, getControlSocketPath, hasValidSocketPath, openDataFolder, type Secrets } from "./data-folder";
import type { Runner } from "./domain/jobs";
import type { SpeechEngine } from "./domain/speech";
import { createHandler } from "./http/app";
import { createControlHandler } from "./http/control";
import { type ListeningSocket, listen } from "./http/listen";
import { type Assets, openAssets } from "./lib/assets";
import { createDiskReserve } from "./lib/disk-reserve";
import type { Log } from "./lib/log";
import { killAllChildren } from "./lib/process";
import { findSandbox, type Sandbox } from "./lib/sandbox";
import { createSealer } from "./lib/sealer";
import { createSemaphore } from "./lib/semaphore";
import { chooseEncoder, detectEncoders, type Encoders } from "./media/encoders";
import { type Ffmpeg, findFfmpegWarning, selectFfmpeg } from "./media/ffmpeg";
import { createLimitedResolver, createResolver } from "./outbound/dns";
import { createMailer } from "./outbound/mail";
import { createOidcClient } from "./outbound/oidc";
import { createEmbeddedRunner, TIME_SLICE_MS } from "./queue/embedded";
import { createSpeechEngine } from "./speech/engine";
import { getModelsFolder } from "./speech/models/installed-models";
import { openStore, type Store } from "./store/db";
import { migrate } from "./store/migrate";
import { createCursors } from "./store/paging";
import type { AdminServices } from "./work/admin-commands";
import { createDeliverer } from "./work/deliver";
import { createAccountPurge } from "./work/identity/account-purge";
import { createPasswords } from "./work/identity/passwords";
import { openSessionKeys } from "./work/identity/session-keys";
import { createSessions } from "./work/identity/sessions";
import { openSetup } from "./work/identity/setup";
import { createSignInLimits } from "./work/identity/sign-in-limits";
import { openPlanChild } from "./work/job-child/plan-child";
import { createJobSource } from "./work/job-source";
import { createMailSender } from "./work/mail-sender";
import { createMails } from "./work/mails";
import type { MediaTools } from "./work/media-tools";
import { createPlanRequests } from "./work/plan-requests";
import { recover, sweep } from "./work/recovery";
import { createJobHandlers } from "./work/registry";
import type { Services } from "./work/services";
import { readSystemHealth } from "./work/system-health";
import { getAddressRules } from "./work/webhook-endpoints";

/** The argument that starts the executable as a speech worker. The folder of the extracted assets follows, except in development. */
export const SPEECH_COMMAND = "__speech";

const isCompiled = !process.execPath.endsWith("/bun") && !process.execPath.endsWith("/bun.exe");

/** The argument that starts the executable as the child process of a job. */
const JOB_COMMAND = "__job";

/** Returns the command that starts this program as a child process. */
export function selfCommand(...args: string[]): string[] {
  return isCompiled ? [process.execPath, ...args] : [process.execPath, join(import.meta.dir, "main.ts"), ...args];
}

/**
 * Returns the sandbox for processes that read uploaded media, which are this program and ffmpeg. Throws `ConfigError` when the configuration
 * requires `bwrap` and it does not work here.
 */
export async function openSandbox(config: Config, assets: Assets, ffmpeg: Ffmpeg): Promise<Sandbox> {
  const sandbox = await findSandbox({
    wanted: config.sandbox !== "off",
    programs: [process.execPath, ffmpeg.path],
    shared: [...(isCompiled ? [] : [join(import.meta.dir, "..")]), ...(assets.folder === null ? [] : [assets.folder])],
    probe: [ffmpeg.path, "-version"],
    path: process.env.PATH,
  });
  if (config.sandbox === "require" && sandbox.mode !== "bwrap")
    throw new ConfigError(`sandbox is "require", but ${sandbox.reason}`);
  return sandbox;
}

/** Returns the command of the speech worker. */
export const speechCommand = (assets: Assets): string[] =>
  selfCommand(SPEECH_COMMAND, ...(assets.folder === null ? [] : [assets.folder]));

/**
 * Finds ffmpeg and a sandbox, and creates the tools that jobs run with. Speech models are read from the data folder. Throws `ConfigError`.
 * `speech` replaces the speech engine. Without `log`, nothing is logged.
 */
export async function openMediaTools(
  config: Config,
  assets: Assets,
  dataDir: string,
  { speech, log }: { speech: SpeechEngine | null; log: Log | null },
): Promise<Omit<MediaTools, "maxFileBytes" | "temporaryFolder">> {
  const ffmpeg = await selectFfmpeg({ forced: config.ffmpeg, bundled: assets.ffmpeg, path: process.env.PATH });
  log?.info("ffmpeg.selected", { path: ffmpeg.path, version: ffmpeg.version, bundled: ffmpeg.bundled });
  const outdated = findFfmpegWarning(ffmpeg, process.env.PATH);
  if (outdated !== null) log?.warn("ffmpeg.outdated", { message: outdated });
  const sandbox = await openSandbox(config, assets, ffmpeg);
  const { mode, reason } = sandbox;
  if (mode === "bwrap") log?.info("sandbox.selected", { mode });
  else log?.warn("sandbox.selected", { mode, reason });
  let encoders: Promise<Encoders> | null = null;
  const findEncoders = () => {
    encoders ??= detectEncoders(ffmpeg, sandbox);
    return encoders;
  };
  return {
    ffmpeg,
    sandbox,
    speech:
      speech ??
      createSpeechEngine({
        command: speechCommand(assets),
        modelsDir: getModelsFolder(dataDir),
        idleSeconds: config.speechIdleSeconds,
        log: (event, fields) => log?.info(event, { ...fields }),
      }),
    jobCommand: selfCommand(JOB_COMMAND),
    encoders: findEncoders,
    encoder: async () => chooseEncoder(await findEncoders(), config.encoder),
    encoderSemaphore: createSemaphore(Math.max(1, navigator.hardwareConcurrency)),
  };
}

type OpenDataFolder = {
  path: string;
  assets: Assets;
  store: Store;
  secrets: Secrets;
  saveSessionKeys: DataFolder["saveSessionKeys"];
  close(): Promise<void>;
};

/** Locks the data folder and opens the database. Throws `ConfigError`. */
async function openFolder(config: Config): Promise<OpenDataFolder> {
  const folder = await openDataFolder(config.dataDir);
  try {
    const assets = await openAssets({ dataDir: folder.path });
    const store = await openDatabase(join(folder.path, "offcut.db"));
    return {
      path: folder.path,
      assets,
      store,
      secrets: folder.secrets,
      saveSessionKeys: folder.saveSessionKeys,
      close: async () => {
        await store.close();
        folder.lock.release();
      },
    };
  } catch (error) {
    folder.lock.release();
    throw error;
  }
}

async function openDatabase(path: string): Promise<Store> {
  try {
    const store = await openStore(path);
    await migrate(store);
    return store;
  } catch (error) {
    throw new ConfigError(`cannot open the database ${path}: ${(error as Error).message}`);
  }
}

/** Opens the data folder for an administration command. Throws an error when a server holds the folder. */
export async function openForAdmin(config: Config): Promise<AdminServices & { close(): Promise<void> }> {
  const { path: folder, store, close } = await openFolder(config);
  const setup = openSetup({ folder, store, publicUrl: () => publicUrl(config, config.port) });
  return { store, config, now: Date.now, passwords: createPasswords(), setup, close };
}

export type RunningServer = {
  port: number;
  url: string;
  dataDir: string;
  /** For programs that run the server in their own process. */
  services: Services;
  tools: MediaTools;
  stop(): Promise<void>;
};

/** Parts of the server that a caller replaces. The server closes `speech` when it stops. */
export type ServerOverrides = { speech?: SpeechEngine; now?: () => number; timeSliceMs?: number };

/** For running requests when the server stops. */
const DRAIN_MS = 10_000;

/** Starts the server. Throws `ConfigError` when the folder or the port is in use, or the certificate is invalid. */
export async function startServer(config: Config, log: Log, overrides: ServerOverrides = {}): Promise<RunningServer> {
  const opened = await openFolder(config);
  try {
    return await serve(config, log, opened, overrides);
  } catch (error) {
    await opened.close();
    throw error;
  }
}

async function serve(
  config: Config,
  log: Log,
  opened: OpenDataFolder,
  overrides: ServerOverrides,
): Promise<RunningServer> {
  const { path, assets, store, secrets } = opened;
  const folders = getFolders(path);
  for (const folder of [folders.uploads, folders.mediaRoot, folders.rendersRoot, folders.workRoot]) {
    await mkdir(folder, { recursive: true });
  }
  let url = "";
  const now = overrides.now ?? Date.now;
  const sessionKeys = openSessionKeys(secrets.sessions, { now, log, save: opened.saveSessionKeys });
  const sealer = createSealer(secrets.sealing);
  const disk = createDiskReserve(path, config.diskReserveBytes);
  const tools: MediaTools = {
    ...(await openMediaTools(config, assets, path, { speech: overrides.speech ?? null, log })),
    temporaryFolder: folders.workRoot,
    maxFileBytes: disk.maxFileBytes,
  };
  const slots = { prepare: config.prepareJobs, cut: 2, render: config.renderJobs };
  const services: Services = {
    config,
    store,
    folders,
    disk,
    links: createSignedLinks(secrets.links, () => url),
    cursors: createCursors(secrets.cursors),
    passwords: createPasswords(),
    sessions: createSessions({ store, keys: sessionKeys, now }),
    setup: openSetup({ folder: path, store, publicUrl: () => url }),
    signInLimits: createSignInLimits(now),
    mails: createMails({ isConfigured: config.smtpUrl !== null, sealer, log }),
    sealer,
    oidc: createOidcClient(now),
    log,
    now,
    runner: idleRunner,
    resolverFor: createLimitedResolver(createResolver({ servers: config.dnsServers })),
    planRequests: createPlanRequests((dir) => openPlanChild(tools, [dir])),
    ffmpegPath: tools.ffmpeg.path,
    publicUrl: () => url,
    readHealth: () => readSystemHealth(services, tools, slots),
  };
  services.runner = createEmbeddedRunner({
    source: createJobSource(services),
    handlers: createJobHandlers(services, tools),
    slots,
    log,
    timeSliceMs: overrides.timeSliceMs ?? TIME_SLICE_MS,
  });

  const purge = createAccountPurge(services);
  const { resolverFor } = services;
  const deliverer = createDeliverer({ store, rules: getAddressRules(services), log, now, resolverFor });
  store.onCommit(deliverer.wake);
  const mailSender =
    config.smtpUrl === null
      ? null
      : createMailSender({
          store,
          sealer,
          log,
          now,
          mailer: createMailer({ url: config.smtpUrl, from: () => getMailSender(config, url) }),
        });
  if (mailSender) store.onCommit(mailSender.wake);

  const handler = createHandler(services);
  const server = listen(config, handler);
  url = publicUrl(config, server.port ?? config.port);
  if (isExposedWithoutTls(config)) {
    log.warn("server.exposed_without_tls", {
      host: config.host,
      advice:
        "API keys and recordings are sent unencrypted: set tls_cert and tls_key, or listen on 127.0.0.1 behind a TLS proxy",
    });
  }
  const control = await listenOnControlSocket(path, createControlHandler(services, log), log);

  await recover(services);
  services.runner.start();
  deliverer.start();
  mailSender?.start();
  void purge.run();
  const sweeping = setInterval(() => {
    void purge.run();
    void sweep(services).catch((error) => log.error("sweep.failed", { error }));
  }, SWEEP_INTERVAL_MS);

  return {
    port: server.port ?? config.port,
    url,
    dataDir: path,
    services,
    tools,
    stop: async () => {
      // New connections are refused immediately; running requests may complete.
      clearInterval(sweeping);
      const drained = server.stop(false);
      control?.stop(true);
      // Jobs are requeued at the same time, so that a supervisor that kills the server during the wait does not cause an unclean exit.
      await Promise.all([Promise.race([drained, Bun.sleep(DRAIN_MS)]), services.runner.stop()]);
      await server.stop(true);
      await Promise.all([deliverer.stop(), mailSender?.stop(), purge.stop()]);
      await tools.speech.close();
      await killAllChildren();
      await opened.close();
    },
  };
}

const idleRunner: Runner = { start: () => {}, wake: () => {}, cancel: () => {}, stop: async () => {} };

const SWEEP_INTERVAL_MS = 3600 * 1000;

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
  const server = Bun.serve({ unix: socket, fetch: handler });
  chmodSync(socket, 0o600);
  return { stop: (force) => server.stop(force) };
}
