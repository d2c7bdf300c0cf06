/** Form fields for passwords and codes. */
import { MAX_EMAIL_CHARACTERS, MAX_PASSWORD_CHARACTERS, MIN_PASSWORD_CHARACTERS } from "../../src/domain/field-limits";
import { api, must } from "../app/api";
import { Field } from "./form";

type FieldProps = { isFirst?: boolean };

export const EmailField = ({ isFirst = true }: FieldProps) => (
  <Field
    label="Email"
    name="email"
    type="email"
    autocomplete="username"
    maxLength={MAX_EMAIL_CHARACTERS}
    spellcheck={false}
    required
    isFirst={isFirst}
  />
);

/** Provides the account name to password managers in a form that does not ask for it. */
export const UsernameField = ({ email }: { email: string }) => (
  <input
    class="visually-hidden"
    type="text"
    autocomplete="username"
    value={email}
    readOnly
    tabIndex={-1}
    aria-hidden="true"
  />
);

export const PasswordField = ({ isFirst = false }: FieldProps) => (
  <Field label="Password" name="password" type="password" autocomplete="current-password" required isFirst={isFirst} />
);

export const NewPasswordField = ({ isFirst = false, isShown = false }: FieldProps & { isShown?: boolean }) => (
  <Field
    label="New password"
    name="password"
    type={isShown ? "text" : "password"}
    autocomplete="new-password"
    spellcheck={false}
    minLength={MIN_PASSWORD_CHARACTERS}
    maxLength={MAX_PASSWORD_CHARACTERS}
    required
    hint={`At least ${MIN_PASSWORD_CHARACTERS} characters.`}
    isFirst={isFirst}
  />
);

/** A field for a second-factor code. */
export const CodeField = ({ hint }: { hint: string }) => (
  <Field
    label="Code"
    name="code"
    autocomplete="one-time-code"
    spellcheck={false}
    maxLength={40}
    required
    isFirst
    hint={hint}
  />
);

/** The response to a correct password when the account has a second factor. */
export type Challenge = { challenge: string; methods: readonly string[] };

/**
 * Starts a session in this browser. Returns null, or a challenge that must be answered with a code first. Throws
 * `ApiError`.
 */
export async function sendPassword(email: string, password: string): Promise<Challenge | null> {
  const answer = await must(api.POST("/api/v1/auth/login", { body: { email, password } }));
  return "two_factor_required" in answer ? answer : null;
}

/** Answers a challenge, which starts a session. Throws `ApiError`. */
export async function sendCode({ challenge }: Challenge, code: string): Promise<void> {
  await must(api.POST("/api/v1/auth/login/two-factor", { body: { challenge, code: code.trim() } }));
}

const HINTS: Record<string, string> = {
  totp: "The six digits that your authenticator app shows.",
  email: "The six digits that were sent to your email address.",
  recovery: "You can also enter a recovery code.",
};

/** Returns the hint of the code field, for the methods that the API lists. */
export const toCodeHint = (methods: readonly string[]): string =>
  methods.flatMap((method) => HINTS[method] ?? []).join(" ");
