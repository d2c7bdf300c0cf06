/** The messages for failed uploads. */
import { DetailedError } from "tus-js-client";
import { nameResources } from "../app/api";
import { toNumber } from "../app/english";
import { formatCount } from "../app/format";

/** Returns whether the upload was rejected because the balance does not cover it. */
export const isForCredits = (error: Error): boolean =>
  error instanceof DetailedError && error.originalResponse?.getStatus() === 402;

/**
 * Returns whether the upload retries automatically: after a lost connection, and while the server is busy or another
 * client sends the same file.
 */
export function isTransient({ originalRequest, originalResponse }: DetailedError): boolean {
  const status = originalResponse?.getStatus() ?? 0;
  // A new upload is rejected permanently when the storage is full or the project is archived.
  if (status === 409) return originalRequest.getMethod() !== "POST";
  return status === 0 || status === 423 || status === 429 || status >= 500;
}

/** Returns whether the server no longer has the upload to which bytes were sent. */
export const isGone = ({ originalRequest, originalResponse }: DetailedError): boolean =>
  originalRequest.getMethod() === "PATCH" && [404, 410].includes(originalResponse?.getStatus() ?? 0);

/** Statuses of files that are rejected because of their size. */
const REFUSED_FILE = [400, 413];

/** Returns whether another attempt with the same file can succeed. */
export const canTryAgain = (error: Error): boolean =>
  !(error instanceof DetailedError) || !REFUSED_FILE.includes(error.originalResponse?.getStatus() ?? 0);

const MAX_NAMES = 3;

/** Returns "a.xml", "a.xml and b.thm" or "a.xml, b.thm and 10 more". */
export function listNames(files: readonly { name: string }[]): string {
  const names = files.map(({ name }) => name);
  const more = names.length - MAX_NAMES;
  const shown = more > 0 ? [...names.slice(0, MAX_NAMES - 1), `${toNumber(more + 1)} more`] : names;
  return [shown.slice(0, -1).join(", "), ...shown.slice(-1)].filter(Boolean).join(" and ");
}

/**
 * Returns the texts of the row of refused files: "photo.png" with "Not video or audio.", or "12 files" with "Not video
 * or audio: a.xml, b.thm and 10 more."
 */
export function describeRefused(
  files: readonly { name: string }[],
  reason: string,
  advice: string,
): { name: string; error: string } {
  const isOne = files.length === 1;
  const error = `${isOne ? reason : `${reason}: ${listNames(files)}`}. ${advice}`.trim();
  return { name: isOne ? files[0]!.name : formatCount(files.length, "file"), error };
}

export const SESSION_ENDED =
  "Your session has ended. Sign in, then drop the file again: it continues where it stopped.";

export function toUploadMessage(error: Error): string {
  const response = error instanceof DetailedError ? error.originalResponse : null;
  const detail = readDetail(response?.getBody());
  switch (response?.getStatus()) {
    case undefined:
      return "The file could not be read. Choose it again.";
    case 400:
      return "This file is empty or damaged. Choose another one.";
    case 401:
      return SESSION_ENDED;
    case 402:
      return detail ?? "No credits are left. Add credits, then try again.";
    case 404:
    case 410:
      return "The server no longer has this upload. Try again to start over.";
    case 413:
      return "The file is larger than the server accepts.";
    default:
      return detail ?? "The upload failed. Try again: it continues where it stopped.";
  }
}

function readDetail(body: string | undefined): string | null {
  try {
    const { detail } = JSON.parse(body ?? "") as { detail?: unknown };
    if (typeof detail === "string") return nameResources(detail);
    const [first] = detail as { msg: string }[];
    return first ? `The file ${first.msg}.` : null;
  } catch {
    return null;
  }
}
