import { MAX_PERSON_NAME_CHARACTERS } from "../../../src/domain/field-limits";
import { api, must } from "../../app/api";
import { type Me, me, showProfile } from "../../app/session";
import { showToast } from "../../app/toasts";
import { Button } from "../../ui/button";
import { Field } from "../../ui/field";
import { Form } from "../../ui/form";
import { Section } from "../../ui/section";
import { AccountFrame } from "./account-frame";
import { EmailSection } from "./email-section";

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
    onSend={async ({ first_name: first = "", last_name: last = "" }) => {
      const body = { first_name: first.trim() || null, last_name: last.trim() || null };
      showProfile(await must(api.PATCH("/api/v1/users/me", { body })));
      showToast({ kind: "info", text: "Name saved." });
    }}
  >
    {({ errors, isSending }) => (
      <>
        <div class="field-row">
          <Field
            label="First name"
            name="first_name"
            autocomplete="given-name"
            maxLength={MAX_PERSON_NAME_CHARACTERS}
            value={profile.first_name ?? ""}
            error={errors.first_name}
          />
          <Field
            label="Last name"
            name="last_name"
            autocomplete="family-name"
            maxLength={MAX_PERSON_NAME_CHARACTERS}
            value={profile.last_name ?? ""}
            error={errors.last_name}
          />
        </div>
        <div class="toolbar">
          <Button look="primary" type="submit" isBusy={isSending}>
            Save
          </Button>
        </div>
      </>
    )}
  </Form>
);
