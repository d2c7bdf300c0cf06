/** Validates configuration values. A reader returns a value or throws a `ConfigError` that completes "KEY …". */
import { isIP } from "node:net";
import { parseEmailAddress } from "../domain/email-address";
import { isOffsite, parseOffsiteUrl } from "../domain/offsite";
import { parseRecoveryKey } from "../lib/recovery-key";

export class ConfigError extends Error {}

export type Reader<T> = (value: unknown) => T;

export const fail = (what: string): never => {
  throw new ConfigError(what);
};
export const string: Reader<string> = (v) =>
  typeof v === "string" && v !== "" ? v : fail("must be a non-empty string");
export const text =
  (maxCharacters: number): Reader<string> =>
  (v) => {
    const value = string(v);
    return [...value].length <= maxCharacters ? value : fail(`must have at most ${maxCharacters} characters`);
  };
/** Reads an empty text as null. */
export const nullable =
  <T>(read: Reader<T>): Reader<T | null> =>
  (v) =>
    v === "" ? null : read(v);
/** A folder, or the URL of a bucket. */
export const backupTarget: Reader<string> = (v) => {
  const value = string(v);
  if (isOffsite(value)) complete(() => parseOffsiteUrl(value));
  return value;
};
export const recoveryKey: Reader<string> = (v) => {
  const value = string(v);
  complete(() => parseRecoveryKey(value), "is not valid: ");
  return value;
};

/** Converts an error to one that completes the sentence "KEY …". */
function complete(parse: () => unknown, start = ""): void {
  try {
    parse();
  } catch (error) {
    fail(`${start}${(error as Error).message}`);
  }
}

export const integer =
  (min: number, max = Number.MAX_SAFE_INTEGER): Reader<number> =>
  (v) => {
    const n = typeof v === "string" && /^-?\d+$/.test(v.trim()) ? Number(v) : v;
    return typeof n === "number" && Number.isSafeInteger(n) && n >= min && n <= max
      ? n
      : fail(`must be an integer from ${min} to ${max}`);
  };
/** A time of day in the form `HH:MM`. */
export const timeOfDay: Reader<string> = (v) =>
  /^(?:[01]\d|2[0-3]):[0-5]\d$/.test(string(v)) ? String(v) : fail("must be a time of day, such as 02:00");
export const boolean: Reader<boolean> = (v) => {
  if (v === true || v === "true" || v === "1") return true;
  if (v === false || v === "false" || v === "0") return false;
  return fail("must be true or false");
};
export const stringList: Reader<string[]> = (v) => {
  if (Array.isArray(v) && v.every((x) => typeof x === "string")) return v;
  if (typeof v === "string")
    return v
      .split(",")
      .map((x) => x.trim())
      .filter(Boolean);
  return fail("must be a list of strings");
};
export const oneOf =
  <T extends string>(...values: readonly T[]): Reader<T> =>
  (v) =>
    values.find((value) => value === v) ?? fail(`must be one of ${values.join(", ")}`);
export const url: Reader<string> = (v) => {
  const value = string(v);
  if (!URL.canParse(value) || !/^https?:$/.test(new URL(value).protocol)) fail("must be an http or https URL");
  return value.replace(/(?<!\/)\/+$/, "");
};

/** A URL without a path, query or credentials. */
export const originUrl: Reader<string> = (v) => {
  const value = url(v);
  return new URL(value).origin === value.toLowerCase() ? value : fail("must be an http or https URL without a path");
};

/** An ISO 4217 code, in lower case. */
export const currency: Reader<string> = (v) => {
  const value = string(v).toLowerCase();
  return /^[a-z]{3}$/.test(value) ? value : fail("must be an ISO 4217 code, such as eur");
};

export const dnsServers: Reader<string[]> = (v) =>
  stringList(v).map((server) => {
    const [, bracketed, plain, port] = /^(?:\[([^\]]+)\]|([^[\]]+?))(?::(\d{1,5}))?$/.exec(server) ?? [];
    // An IPv6 address without brackets: its last group looks like a port.
    if (isIP(server) !== 0) return server;
    if (isIP(bracketed ?? "") !== 6 && isIP(plain ?? "") !== 4)
      fail("must be IP addresses, each optionally followed by :PORT");
    if (port !== undefined && (Number(port) < 1 || Number(port) > 65535)) fail("must have ports from 1 to 65535");
    return server;
  });

export const smtpUrl: Reader<string> = (v) => {
  const value = string(v);
  if (!URL.canParse(value) || !/^smtps?:$/.test(new URL(value).protocol) || new URL(value).hostname === "")
    fail("must be an smtp or smtps URL");
  return value;
};

export const emailAddress: Reader<string> = (v) => parseEmailAddress(string(v)) ?? fail("must be an email address");

/** Keeps each listed element of `known` once. */
export const listOf =
  <const T extends string>(known: readonly T[]): Reader<T[]> =>
  (v) => {
    const listed = stringList(v);
    const isKnown = listed.length > 0 && listed.every((name) => known.some((k) => k === name));
    return isKnown ? known.filter((name) => listed.includes(name)) : fail(`must be a list of ${known.join(", ")}`);
  };

/** A query is rejected, because the Redis client would accept any of its options from it. */
export const redisUrl: Reader<string> = (v) => {
  const value = string(v);
  const url = URL.canParse(value) ? new URL(value) : null;
  if (!url || !/^rediss?:$/.test(url.protocol) || url.hostname === "" || url.search !== "" || url.hash !== "")
    fail("must be a redis or rediss URL without a query");
  return value;
};
