/** Texts about API keys. */
import type { ApiKey } from "../../app/keys-api";

/** Replaces a key that is not shown. */
export const KEY_PLACEHOLDER = "<API_KEY>";

/** The scopes that the form offers. */
export const SCOPE_CHOICES = [
  { value: "read write", label: "Read and write" },
  { value: "read", label: "Read only" },
  { value: "write", label: "Write only" },
];

/** Returns the label of a key's scopes. */
export function formatScopes(scopes: readonly string[]): string {
  const value = scopes.toSorted().join(" ");
  return SCOPE_CHOICES.find((choice) => choice.value === value)?.label ?? value;
}

export const hasExpired = ({ expires_at }: ApiKey): boolean =>
  expires_at !== null && Date.parse(expires_at) <= Date.now();

/** Returns an example call of this server that the key's scopes allow. */
export function createExample(key: string, scopes: readonly string[]): string {
  const call = `curl "${location.origin}/v1/projects" \\\n  -H "Authorization: Bearer ${key}"`;
  if (scopes.includes("read")) return call;
  return `${call} \\\n  -H "Content-Type: application/json" \\\n  -d '{"name": "Talks"}'`;
}
