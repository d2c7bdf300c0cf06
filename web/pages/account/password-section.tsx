import { useState } from "preact/hooks";
import { api, must } from "../../app/api";
import type { Me } from "../../app/session";
import { showToast } from "../../app/toasts";
import { Button } from "../../ui/button";
import { NewPasswordField, UsernameField } from "../../ui/credential-fields";
import { Field } from "../../ui/field";
import { Form } from "../../ui/form";
import { Section } from "../../ui/section";

type PasswordSectionProps = { profile: Me; onChanged(): void };

/** Changes the password. */
export function PasswordSection({ profile, onChanged }: PasswordSectionProps) {
  // A new key resets the form.
  const [version, setVersion] = useState(0);
  if (!profile.has_password)
    return (
      <Section title="Password">
        <p>
          Your account has no password, because you sign in with a provider. To set one,{" "}
          <a href="/forgot-password">request a link</a>.
        </p>
      </Section>
    );
  return (
    <Section title="Password" hint="Changing it ends all of your other sessions. API keys keep working.">
      <PasswordForm
        key={version}
        email={profile.email}
        onDone={() => {
          setVersion(version + 1);
          onChanged();
          showToast({ kind: "info", text: "Password changed. All other sessions have ended." });
        }}
      />
    </Section>
  );
}

function PasswordForm({ email, onDone }: { email: string; onDone(): void }) {
  const [isShown, setIsShown] = useState(false);
  return (
    <Form
      onSend={async ({ current_password: current = "", password = "" }) => {
        await must(api.PUT("/api/v1/users/me/password", { body: { current_password: current, password } }));
        onDone();
      }}
    >
      {({ errors, isSending }) => (
        <>
          <UsernameField email={email} />
          <div class="field-row">
            <Field
              label="Current password"
              name="current_password"
              type={isShown ? "text" : "password"}
              autocomplete="current-password"
              spellcheck={false}
              required
              error={errors.current_password}
            />
            <NewPasswordField isShown={isShown} error={errors.password} />
          </div>
          <label class="check">
            <input type="checkbox" checked={isShown} onChange={(event) => setIsShown(event.currentTarget.checked)} />
            Show passwords
          </label>
          <div class="toolbar">
            <Button look="primary" type="submit" isBusy={isSending}>
              Change password
            </Button>
          </div>
        </>
      )}
    </Form>
  );
}
