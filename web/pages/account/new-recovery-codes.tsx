import { useState } from "preact/hooks";
import { api, must } from "../../app/api";
import type { Me } from "../../app/session";
import { RecoveryCodesDialog } from "./recovery-codes-dialog";
import { TwoFactorPassword } from "./two-factor-password";

type NewRecoveryCodesProps = { profile: Me; onReplaced(): void; onClose(): void };

/** Replaces the recovery codes, and shows the new ones once. */
export function NewRecoveryCodes({ profile, onReplaced, onClose }: NewRecoveryCodesProps) {
  const [codes, setCodes] = useState<string[] | null>(null);
  if (codes !== null) return <RecoveryCodesDialog codes={codes} email={profile.email} onClose={onClose} />;
  return (
    <TwoFactorPassword
      title="Replace the recovery codes?"
      hasPassword={profile.has_password}
      confirmLabel="Replace codes"
      look="primary"
      onSend={async (body) => {
        const made = await must(api.POST("/api/v1/users/me/two-factor/recovery-codes", { body }));
        setCodes(made.recovery_codes);
        onReplaced();
      }}
      onClose={onClose}
    >
      You get ten new codes. The current ones stop working.
    </TwoFactorPassword>
  );
}
