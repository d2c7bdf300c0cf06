import { useState } from "preact/hooks";
import { api, must, type Schemas, toMessage } from "../../app/api";
import { loadSession } from "../../app/load-session";
import { useResource } from "../../app/resource";
import type { Me } from "../../app/session";
import { showToast } from "../../app/toasts";
import { Section } from "../../ui/section";
import { ErrorPanel, ResourceView } from "../../ui/states";
import { NewRecoveryCodes } from "./new-recovery-codes";
import { TwoFactorActions, TwoFactorStatus } from "./two-factor-actions";
import { TwoFactorPassword } from "./two-factor-password";
import { type Enrollment, TwoFactorSetup } from "./two-factor-setup";

export type TwoFactor = Schemas["TwoFactor"];

/** The second factor of the sign-in. */
export function TwoFactorSection({ profile }: { profile: Me }) {
  const state = useResource((signal) => must(api.GET("/api/v1/users/me/two-factor", { signal })), []);
  const [enrollment, setEnrollment] = useState<Enrollment | null>(null);
  const [open, setOpen] = useState<"remove" | "codes" | null>(null);
  const [error, setError] = useState<string | null>(null);

  const reload = async () => {
    await Promise.all([state.reload(), loadSession()]);
  };
  const run = async (action: () => Promise<void>) => {
    setError(null);
    await action().catch((thrown: unknown) => setError(toMessage(thrown)));
  };
  const setUp = () => run(async () => setEnrollment(await must(api.POST("/api/v1/users/me/two-factor"))));
  const setEnabled = (isEnabled: boolean) =>
    run(async () => {
      await must(api.PATCH("/api/v1/users/me", { body: { two_factor_enabled: isEnabled } }));
      await reload();
      showToast({ kind: "info", text: isEnabled ? "Second factor turned on." : "Second factor turned off." });
    });

  return (
    <Section title="Second factor" hint="Sign-in asks for a code in addition to your password.">
      <ResourceView resource={state}>
        {(value) => (
          <>
            <TwoFactorStatus value={value} />
            {error && <ErrorPanel message={error} />}
            <TwoFactorActions
              value={value}
              onSetUp={setUp}
              onEnable={setEnabled}
              onRemove={() => setOpen("remove")}
              onCodes={() => setOpen("codes")}
            />
          </>
        )}
      </ResourceView>
      {enrollment && (
        <TwoFactorSetup
          enrollment={enrollment}
          email={profile.email}
          onConfirmed={() => void reload()}
          onClose={() => setEnrollment(null)}
        />
      )}
      {open === "codes" && (
        <NewRecoveryCodes email={profile.email} onReplaced={() => void state.reload()} onClose={() => setOpen(null)} />
      )}
      {open === "remove" && (
        <TwoFactorPassword
          title="Turn off the second factor?"
          confirmLabel="Turn off"
          look="danger"
          onSend={async (password) => {
            await must(api.DELETE("/api/v1/users/me/two-factor", { body: { password } }));
            setOpen(null);
            await reload();
            showToast({ kind: "info", text: "Second factor turned off." });
          }}
          onClose={() => setOpen(null)}
        >
          The authenticator and the recovery codes stop working, and sign-in asks only for your password. To turn it on
          again, set up an authenticator again.
        </TwoFactorPassword>
      )}
    </Section>
  );
}
