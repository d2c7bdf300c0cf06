/** Form fields for passwords and codes. */
import { MAX_EMAIL_CHARACTERS, MAX_PASSWORD_CHARACTERS, MIN_PASSWORD_CHARACTERS } from "../../src/domain/field-limits";
import { Field } from "./field";

type FieldProps = { error: string | undefined; isFirst?: boolean };

export const EmailField = ({ error, isFirst = true }: FieldProps) => (
  <Field
    label="Email"
    name="email"
    type="email"
    autocomplete="username"
    maxLength={MAX_EMAIL_CHARACTERS}
    spellcheck={false}
    required
    isFirst={isFirst}
    error={error}
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

export const PasswordField = ({ error, isFirst = false }: FieldProps) => (
  <Field
    label="Password"
    name="password"
    type="password"
    autocomplete="current-password"
    required
    isFirst={isFirst}
    error={error}
  />
);

export const NewPasswordField = ({ error, isFirst = false, isShown = false }: FieldProps & { isShown?: boolean }) => (
  <Field
    label="New password"
    name="password"
    type={isShown ? "text" : "password"}
    autocomplete="new-password"
    spellcheck={false}
    minLength={MIN_PASSWORD_CHARACTERS}
    maxLength={MAX_PASSWORD_CHARACTERS}
    required
    hint="At least 10 characters."
    isFirst={isFirst}
    error={error}
  />
);

/** A field for a second-factor code. */
export const CodeField = ({ hint, error }: { hint: string; error: string | undefined }) => (
  <Field
    label="Code"
    name="code"
    autocomplete="one-time-code"
    spellcheck={false}
    maxLength={40}
    required
    isFirst
    hint={hint}
    error={error}
  />
);
