/** The uploads of this tab. They continue while the user opens other pages. */

import { computed, signal } from "@preact/signals";
import { canStoreURLs, defaultOptions, type PreviousUpload, Upload } from "tus-js-client";
import { DAY_MS } from "../../src/domain/time";
import { randomKey } from "../app/api";
import { forget, listKeys, recall, remember } from "../app/memory";
import { RETRY_DELAYS_MS } from "../app/retry";
import { currentWorkspaceId, me, toWorkspaceHeader } from "../app/session";
import { isTrayNeeded } from "../app/tray-state";
import {
  canTryAgain,
  describeRefused,
  isForCredits,
  isGone,
  isTransient,
  SESSION_ENDED,
  toUploadMessage,
} from "./messages";
import { sendScript } from "./scripts";

/** `refused`: the file cannot be uploaded, and nothing was sent. */
type UploadState = "waiting" | "uploading" | "paused" | "retrying" | "finished" | "failed" | "refused";

/** `bytesPerSecond` and `secondsLeft` are null until they are known. */
export type UploadItem = {
  id: string;
  projectId: string;
  workspaceId: string | null;
  name: string;
  sizeBytes: number;
  state: UploadState;
  sentBytes: number;
  bytesPerSecond: number | null;
  secondsLeft: number | null;
  /** Whether the upload continues an earlier one. */
  isResumed: boolean;
  error: string | null;
  /** Whether the error is a lack of credits. */
  needsCredits: boolean;
  /** Whether a failed upload can be retried. */
  canRetry: boolean;
};

export const uploads = signal<UploadItem[]>([]);

/** Counts finished uploads, so that lists reload. */
export const finishedUploads = signal(0);

export const activeUploads = computed(() =>
  uploads.value.filter(({ state }) => state === "waiting" || state === "uploading" || state === "retrying"),
);

const MAX_AT_ONCE = 3;
const MAX_RETRIES = 1_000;

/** `findOther` returns an interrupted upload of the same file in a language that was chosen for it. */
type Job = { upload: Upload; findOther(): Promise<PreviousUpload | undefined>; isStarted: boolean };
const jobs = new Map<string, Job>();
let lastId = 0;

/** The workspace of a project; `language`: in place of the project's. */
type UploadPlace = { workspaceId: string | null; language?: string };

/** Adds files to upload to a project. Partial uploads are resumed. */
export function addUploads(projectId: string, files: File[], { workspaceId, language }: UploadPlace): void {
  for (const file of files) {
    const item = { ...toItem(projectId, file), workspaceId };
    show(item);
    jobs.set(item.id, { ...createUpload(item, file, language), isStarted: false });
  }
  startNext();
}

/**
 * Shows files that cannot be uploaded in one row, until it is closed. `reason`: why, without a period; `advice`: a
 * sentence.
 */
export function refuseUploads(files: readonly Pick<File, "name" | "size">[], reason: string, advice = ""): void {
  const [first] = files;
  if (first === undefined) return;
  const text = describeRefused(files, reason, advice);
  show({ ...toItem("", first), ...text, state: "refused", canRetry: false });
}

function show(item: UploadItem): void {
  uploads.value = [...uploads.value, item];
  isTrayNeeded.value = true;
}

/** Time for which a finished upload is shown. */
const FINISHED_MS = 5_000;

const toItem = (projectId: string, file: Pick<File, "name" | "size">): UploadItem => ({
  id: String(++lastId),
  projectId,
  workspaceId: currentWorkspaceId(),
  name: file.name,
  sizeBytes: file.size,
  state: "waiting",
  sentBytes: 0,
  bytesPerSecond: null,
  secondsLeft: null,
  isResumed: false,
  error: null,
  needsCredits: false,
  canRetry: true,
});

function createUpload(item: UploadItem, file: File, language?: string): Omit<Job, "isStarted"> {
  const meter = createSpeedMeter();
  const { id, projectId, workspaceId: workspace } = item;
  const base = ["offcut", workspace ?? "", projectId, file.name, file.size, file.lastModified].join("/");
  const fingerprint = language ? `${base}/${language}` : base;
  const creation = openCreation(fingerprint);
  const upload = new Upload(file, {
    endpoint: "/api/v1/assets/upload-resumable",
    metadata: { filename: file.name, project_id: projectId, ...(language !== undefined && { language }) },
    headers: toWorkspaceHeader(workspace),
    // The same file in the same project resumes its upload, even after a reload.
    fingerprint: async () => fingerprint,
    removeFingerprintOnSuccess: true,
    onBeforeRequest: (request) => {
      if (request.getMethod() === "POST") request.setHeader("Idempotency-Key", creation.keep());
    },
    onUploadUrlAvailable: () => {
      creation.end();
      void sendScript(file, upload.url, workspace);
    },
    retryDelays: Array.from(
      { length: MAX_RETRIES },
      (_, n) => RETRY_DELAYS_MS[Math.min(n, RETRY_DELAYS_MS.length - 1)]!,
    ),
    onShouldRetry: (error) => {
      const goesOn = isTransient(error) || (isGone(error) && creation.mayRepeat());
      if (goesOn) change(id, { state: "retrying", bytesPerSecond: null, secondsLeft: null });
      return goesOn;
    },
    onProgress: (sentBytes, totalBytes) => {
      const bytesPerSecond = meter.add(sentBytes, performance.now());
      const secondsLeft = bytesPerSecond === null ? null : (totalBytes - sentBytes) / bytesPerSecond;
      if (find(id)?.state !== "paused") change(id, { state: "uploading", sentBytes, bytesPerSecond, secondsLeft });
    },
    onSuccess: () => {
      change(id, { state: "finished", sentBytes: file.size, bytesPerSecond: null, secondsLeft: null, error: null });
      jobs.delete(id);
      finishedUploads.value++;
      setTimeout(() => dismiss(id), FINISHED_MS);
      startNext();
    },
    onError: (error) => {
      creation.end();
      change(id, {
        state: "failed",
        error: toUploadMessage(error),
        needsCredits: isForCredits(error),
        canRetry: canTryAgain(error),
        secondsLeft: null,
        bytesPerSecond: null,
      });
      startNext();
    },
  });
  const findOther = async () => {
    // Without storage, the client has no list of uploads.
    if (language || !canStoreURLs) return undefined;
    const start = `tus::${base}/`;
    const all = await defaultOptions.urlStorage.findAllUploads();
    const running = new Set([...jobs.values()].map(({ upload }) => upload.url));
    return all.find(
      ({ urlStorageKey: key, uploadUrl }) =>
        key.startsWith(start) && /^[^/:]+::/.test(key.slice(start.length)) && !running.has(uploadUrl),
    );
  };
  return { upload, findOther };
}

/** Start of the names of stored keys. They contain file names. */
const CREATION = "creating.";
/** Time for which the server keeps the response to a key. */
const CREATION_KEPT_MS = DAY_MS;

type Creation = {
  /**
   * Returns a key that stays the same until `end`, also after a reload: a creation whose response is lost is not
   * repeated.
   */
  keep(): string;
  /** Called when the server has responded. */
  end(): void;
  /** Returns true once if the response was that to an earlier request: its upload may have been deleted since. */
  mayRepeat(): boolean;
};

function openCreation(fingerprint: string): Creation {
  const name = CREATION + fingerprint;
  let key: string | null = null;
  let isReplay = false;
  return {
    keep: () => {
      for (const one of listKeys(CREATION)) {
        const age = Date.now() - Number(recall(one)?.split(" ")[0]);
        if (!(age < CREATION_KEPT_MS)) forget(one);
      }
      const earlier = key ?? recall(name)?.split(" ")[1];
      isReplay = earlier !== undefined;
      key = earlier ?? randomKey();
      // Without storage, it stays the same until the page is closed.
      if (!isReplay) remember(name, `${Date.now()} ${key}`);
      return key;
    },
    end: () => {
      key = null;
      forget(name);
    },
    mayRepeat: () => {
      const was = isReplay;
      isReplay = false;
      return was;
    },
  };
}

function startNext(): void {
  for (const { id } of uploads.value.filter(({ state }) => state === "waiting")) {
    if (uploads.value.filter(({ state }) => state === "uploading" || state === "retrying").length >= MAX_AT_ONCE)
      return;
    change(id, { state: "uploading" });
    void start(id);
  }
}

async function start(id: string): Promise<void> {
  const job = jobs.get(id);
  if (!job) return;
  if (!job.isStarted) {
    job.isStarted = true;
    const previous = (await job.upload.findPreviousUploads())[0] ?? (await job.findOther());
    if (previous) {
      job.upload.resumeFromPreviousUpload(previous);
      change(id, { isResumed: true });
    }
  }
  if (find(id)?.state === "uploading") job.upload.start();
}

/** Stops sending. Received bytes stay on the server. */
export function pauseUpload(id: string): void {
  change(id, { state: "paused", bytesPerSecond: null, secondsLeft: null });
  void jobs.get(id)?.upload.abort();
  startNext();
}

/** Continues a paused or failed upload. */
export function continueUpload(id: string): void {
  change(id, { state: "waiting", error: null });
  startNext();
}

/** Cancels the upload and deletes the received bytes. */
export async function cancelUpload(id: string): Promise<void> {
  const job = jobs.get(id);
  jobs.delete(id);
  dismiss(id);
  if (job === undefined) return;
  startNext();
  await job.upload.abort(true).catch(() => {
    // The server deletes the bytes when the upload expires.
  });
  finishedUploads.value++;
}

const dismiss = (id: string): void => {
  uploads.value = uploads.value.filter((item) => item.id !== id);
};

const find = (id: string): UploadItem | undefined => uploads.value.find((item) => item.id === id);

function change(id: string, update: Partial<UploadItem>): void {
  uploads.value = uploads.value.map((item) => (item.id === id ? { ...item, ...update } : item));
}

let userId = me.peek()?.id;
// Uploads end with the session. Received bytes stay on the server. After signing in again, the same user sees the ended
// uploads; another user does not.
me.subscribe((user) => {
  if (user !== null && user.id === userId) return;
  for (const { upload } of jobs.values()) void upload.abort();
  const ended = {
    state: "failed",
    error: SESSION_ENDED,
    canRetry: false,
    secondsLeft: null,
    bytesPerSecond: null,
  } as const;
  uploads.value = user === null ? uploads.value.map((item) => (jobs.has(item.id) ? { ...item, ...ended } : item)) : [];
  jobs.clear();
  userId = user?.id ?? userId;
});

addEventListener("beforeunload", (event) => {
  if (activeUploads.value.length > 0) event.preventDefault();
});

const WINDOW_MS = 8_000;
const MIN_WINDOW_MS = 500;

type SpeedMeter = {
  /**
   * Records the number of sent bytes at a time in milliseconds. Returns bytes per second; null until there are enough
   * samples.
   */
  add(sentBytes: number, nowMs: number): number | null;
};

function createSpeedMeter(): SpeedMeter {
  let samples: { sentBytes: number; atMs: number }[] = [];
  return {
    add: (sentBytes, atMs) => {
      const last = samples.at(-1);
      // A transfer that resumes after an error may start at a lower offset.
      if (last && sentBytes < last.sentBytes) samples = [];
      samples.push({ sentBytes, atMs });
      samples = samples.filter((sample) => atMs - sample.atMs <= WINDOW_MS);
      const first = samples[0]!;
      const elapsedMs = atMs - first.atMs;
      return elapsedMs < MIN_WINDOW_MS ? null : ((sentBytes - first.sentBytes) * 1000) / elapsedMs;
    },
  };
}
