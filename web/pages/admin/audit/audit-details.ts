/** Texts for the details of an audit log entry. */
import type { Schemas } from "../../../app/api";
import { formatBytes, formatCount } from "../../../app/format";
import { formatAmount } from "../../../app/money";

type AuditEntry = Schemas["AuditEntry"];
type Details = NonNullable<AuditEntry["details"]>;

/** Sign-in methods. */
const METHODS: Record<string, string> = {
  oidc: "with a sign-in provider",
  password: "with the password",
  setup: "at the setup of the server",
  sign_up: "at sign-up",
  invitation: "with an invitation",
  totp: "with an authenticator app",
  email: "with a code by email",
  recovery: "with a recovery code",
};

const SCOPES: Record<string, string> = { "read write": "may read and write", read: "may read", write: "may write" };

const REFUSALS: Record<string, string> = { forbidden: "not allowed", unauthenticated: "not accepted" };

const FILE_PROBLEMS: Record<string, string> = { undecodable: "cannot be played", untracked: "unknown" };

const UUID = /^[0-9a-f]{8}-[0-9a-f-]{27}$/i;

const toWords = (value: unknown): string => String(value).replaceAll("_", " ");
const toBytes = (value: unknown): string => formatBytes(Number(value));

/** Formats each detail by its name, in display order. Null means that another text already includes the value. */
const TEXTS: Record<string, (value: unknown, details: Details) => string | null> = {
  name: (name) => `“${name}”`,
  client_id: (name) => `“${name}”`,
  prefix: (prefix) => `starts with ${prefix}…`,
  scopes: (scopes) => {
    const list = (scopes as string[]).toSorted().join(" ");
    return SCOPES[list] ?? `may ${list}`;
  },
  user_id: (user) => (UUID.test(String(user)) ? "a deleted user" : String(user)),
  role: (role) => `as ${/^[aeo]/.test(String(role)) ? "an" : "a"} ${role}`,
  invited_by: (user) => (user === null || UUID.test(String(user)) ? null : `invited by ${user}`),
  provider: (provider) => `with ${provider}`,
  method: (method) => METHODS[String(method)] ?? toWords(method),
  step: (step) => (step === "second_factor" ? "wrong second factor" : toWords(step)),
  code: (code) => REFUSALS[String(code)] ?? toWords(code),
  api_keys: (state) => (state === "kept" ? "API keys keep working" : "API keys were revoked"),
  enabled: (isEnabled) => (isEnabled ? "turned on" : "turned off"),
  delta: (delta) => `${Number(delta) < 0 ? "removed" : "added"} ${formatCount(Math.abs(Number(delta)), "credit")}`,
  note: (note) => `“${note}”`,
  storage_quota_bytes: (bytes) =>
    bytes === null ? "the server's default" : bytes === 0 ? "no limit" : `${toBytes(bytes)} allowed`,
  credits: (credits) => formatCount(Number(credits), "credit"),
  amount: (amount, { currency }) => `for ${formatAmount(Number(amount), String(currency))}`,
  currency: () => null,
  price_id: (price) => `price “${price}”`,
  projects: (count) => formatCount(Number(count), "project"),
  assets: (count) => formatCount(Number(count), "recording"),
  renders: (count) => formatCount(Number(count), "render"),
  path: (path) => String(path),
  problem: (problem) => FILE_PROBLEMS[String(problem)] ?? toWords(problem),
  backup: (backup) => `from ${backup}`,
  bytes: (bytes, { path }) => (path === undefined ? `${toBytes(bytes)} in all` : toBytes(bytes)),
};

const NAMES = Object.keys(TEXTS);

/**
 * Returns a text such as "added 600 credits, “Order 2026-117”". Users are named by address while their account exists.
 */
export function formatDetails({ details, named_user: user }: AuditEntry): string {
  const known = details ?? {};
  const nameUser = (value: unknown) => (user !== null && user.email !== null && value === user.id ? user.email : value);
  const texts = NAMES.filter((name) => name in known).map((name) => TEXTS[name]!(nameUser(known[name]), known));
  return texts.filter((text) => text !== null).join(", ");
}
