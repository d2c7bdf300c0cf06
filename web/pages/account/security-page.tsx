import { useMemo, useState } from "preact/hooks";
import { api, must, type Schemas } from "../../app/api";
import { useOffsetList } from "../../app/cache";
import { type Me, me } from "../../app/session";
import { showToast } from "../../app/toasts";
import { Button } from "../../ui/button";
import { NewPasswordField, UsernameField } from "../../ui/credential-fields";
import { type Column, createActionsColumn, DataTable } from "../../ui/data-table";
import { ConfirmDialog } from "../../ui/dialog";
import { Field, Form, inToolbar } from "../../ui/form";
import { focusHeading } from "../../ui/page";
import { Section } from "../../ui/section";
import { Empty } from "../../ui/states";
import { RelativeTime } from "../../ui/time";
import { AccountFrame } from "../frames";
import { SessionsSection } from "./sessions-section";
import { TwoFactorSection } from "./two-factor-section";

/** Password, second factor, sign-in providers, sessions and devices. */
export default function SecurityPage() {
  const [changes, setChanges] = useState(0);
  const profile = me.value;
  if (profile === null) return null;
  const onChanged = () => setChanges((count) => count + 1);
  return (
    <AccountFrame title="Security">
      <PasswordSection profile={profile} onChanged={onChanged} />
      <TwoFactorSection profile={profile} />
      <IdentitiesSection onRemoved={onChanged} />
      <SessionsSection key={changes} />
      <DevicesSection />
    </AccountFrame>
  );
}

/** Devices, such as editor panels, that act for the user with their own API key. */
const DevicesSection = () => (
  <Section
    title="Devices"
    hint="To connect a device, such as a panel in your video editor, approve the code it shows. The device then gets its own API key."
  >
    <div class="toolbar">
      <a class="button default" href="/oauth/device">
        Connect a device
      </a>
      <a class="button default" href="/keys">
        View API keys
      </a>
    </div>
    <p class="soft">To disconnect a device, revoke its API key.</p>
  </Section>
);

type PasswordSectionProps = { profile: Me; onChanged(): void };

/** Changes the password. */
function PasswordSection({ profile, onChanged }: PasswordSectionProps) {
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
      submitLabel="Change password"
      footer={inToolbar}
      onSend={async ({ current_password: current = "", password = "" }) => {
        await must(api.PUT("/api/v1/users/me/password", { body: { current_password: current, password } }));
        onDone();
      }}
    >
      <UsernameField email={email} />
      <div class="field-row">
        <Field
          label="Current password"
          name="current_password"
          type={isShown ? "text" : "password"}
          autocomplete="current-password"
          spellcheck={false}
          required
        />
        <NewPasswordField isShown={isShown} />
      </div>
      <label class="check">
        <input type="checkbox" checked={isShown} onChange={(event) => setIsShown(event.currentTarget.checked)} />
        Show passwords
      </label>
    </Form>
  );
}

type Identity = Schemas["Identity"];

/**
 * The provider accounts that sign the user in. Renders nothing without any. `onRemoved` is called when a removal has
 * ended the other sessions.
 */
function IdentitiesSection({ onRemoved }: { onRemoved(): void }) {
  const [removing, setRemoving] = useState<Identity | null>(null);
  const list = useOffsetList<Identity>(["identities"], (query, signal) =>
    must(api.GET("/api/v1/users/me/identities", { params: { query }, signal })),
  );
  const columns = useMemo(() => createColumns(setRemoving), []);
  // Most servers have no provider.
  if (!list.items.value?.length && list.error.value === null) return null;
  return (
    <Section
      title="Sign-in providers"
      hint="Accounts at providers that you sign in with. Remove any that you do not recognize."
    >
      <div>
        <DataTable
          caption="Sign-in providers"
          columns={columns}
          list={list}
          empty={<Empty title="No provider is linked" icon="user" />}
        />
      </div>
      {removing && (
        <ConfirmDialog
          title={`Remove ${removing.provider}?`}
          confirmLabel="Remove"
          onConfirm={async () => {
            const params = { path: { identity_id: removing.id } };
            await must(api.DELETE("/api/v1/users/me/identities/{identity_id}", { params }));
            showToast({ kind: "info", text: "Provider removed. All other sessions have ended." });
            await list.reload();
            onRemoved();
            focusHeading();
          }}
          onClose={() => setRemoving(null)}
        >
          <p>
            {removing.email ?? "This account"} at {removing.provider} no longer signs you in, and your other sessions
            end.
          </p>
        </ConfirmDialog>
      )}
    </Section>
  );
}

const createColumns = (onRemove: (identity: Identity) => void): Column<Identity>[] => [
  { title: "Provider", cell: ({ provider, issuer }) => <span title={issuer}>{provider}</span> },
  { title: "Account", width: "minmax(0, 1.6fr)", cell: ({ email }) => email ?? <span class="soft">unknown</span> },
  { title: "Linked", cell: ({ created_at: time }) => <RelativeTime iso={time} /> },
  {
    title: "Last sign-in",
    cell: ({ last_sign_in_at: time }) =>
      time === null ? <span class="soft">never</span> : <RelativeTime iso={time} />,
  },
  createActionsColumn("5.5rem", (identity) => (
    <Button
      aria-label={`Remove ${identity.provider}, ${identity.email ?? "unknown account"}`}
      onClick={() => onRemove(identity)}
    >
      Remove
    </Button>
  )),
];
