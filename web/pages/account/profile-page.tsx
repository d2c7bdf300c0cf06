import { useEffect, useState } from "preact/hooks";
import { MAX_PERSON_NAME_CHARACTERS } from "../../../src/domain/field-limits";
import { api, must } from "../../app/api";
import { formatDay } from "../../app/format";
import { loadSession } from "../../app/load-session";
import { type Me, me, showProfile } from "../../app/session";
import { useSignInMethods } from "../../app/shared-reads";
import { showToast } from "../../app/toasts";
import { Button } from "../../ui/button";
import { Field, Form, inToolbar } from "../../ui/form";
import { Facts, Section } from "../../ui/section";
import { ErrorMessage } from "../../ui/states";
import { useBusy } from "../../ui/use-busy";
import { AccountFrame } from "../frames";

/** The page with the user's name and email address. */
export default function ProfilePage() {
  const profile = me.value;
  if (profile === null) return null;
  return (
    <AccountFrame title="Account">
      <Section title="Name" hint="Other members of your workspaces see it next to your work.">
        <NameForm profile={profile} />
      </Section>
      <EmailSection profile={profile} />
    </AccountFrame>
  );
}

const NameForm = ({ profile }: { profile: Me }) => (
  <Form
    submitLabel="Save"
    footer={inToolbar}
    onSend={async ({ first_name: first = "", last_name: last = "" }) => {
      const body = { first_name: first.trim() || null, last_name: last.trim() || null };
      showProfile(await must(api.PATCH("/api/v1/users/me", { body })));
      showToast({ kind: "info", text: "Name saved." });
    }}
  >
    <div class="field-row">
      <Field
        label="First name"
        name="first_name"
        autocomplete="given-name"
        maxLength={MAX_PERSON_NAME_CHARACTERS}
        value={profile.first_name ?? ""}
      />
      <Field
        label="Last name"
        name="last_name"
        autocomplete="family-name"
        maxLength={MAX_PERSON_NAME_CHARACTERS}
        value={profile.last_name ?? ""}
      />
    </div>
  </Form>
);

/** The address, and whether it is confirmed. */
function EmailSection({ profile }: { profile: Me }) {
  // The address may have been confirmed in another tab, or on another device.
  useEffect(() => void loadSession(), []);
  const { email_verified_at: confirmedAt } = profile;
  return (
    <Section title="Email address" hint="You sign in with it, and it receives notifications. It cannot be changed.">
      <Facts facts={[["Address", profile.email]]} />
      {confirmedAt !== null ? (
        <p>
          <span class="status good">Confirmed</span> <span class="soft">on {formatDay(confirmedAt)}</span>
        </p>
      ) : (
        <Unconfirmed />
      )}
    </Section>
  );
}

/** Sends the confirmation link, if the server can send email. */
function Unconfirmed() {
  const methods = useSignInMethods();
  const [isSent, setIsSent] = useState(false);
  const { isBusy, error, run } = useBusy({ isShown: true });
  const send = () =>
    run(async () => {
      setIsSent(false);
      await must(api.POST("/api/v1/users/me/email-verification"));
      setIsSent(true);
    });
  const loaded = methods.state.value;
  const canSend = loaded.kind === "ready" && loaded.value.email;
  return (
    <>
      <p>
        <span class="status waiting">Not confirmed</span>{" "}
        <span class="soft">Email notifications are sent only to a confirmed address.</span>
      </p>
      <div role="status">{isSent && <p>A link was sent. It is valid for 24 hours. Check your spam folder too.</p>}</div>
      <ErrorMessage error={error} />
      {canSend && (
        <div class="toolbar">
          <Button isBusy={isBusy} onClick={() => void send()}>
            {isSent ? "Send another link" : "Send confirmation link"}
          </Button>
        </div>
      )}
      {loaded.kind === "ready" && !loaded.value.email && (
        <p class="soft">This server does not send email, so the address cannot be confirmed.</p>
      )}
    </>
  );
}
