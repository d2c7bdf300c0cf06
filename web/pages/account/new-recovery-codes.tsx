import { useState } from "preact/hooks";
import { api, must } from "../../app/api";
import { RecoveryCodesDialog } from "./recovery-codes-dialog";
import { TwoFactorPassword } from "./two-factor-password";

type NewRecoveryCodesProps = { email: string; onReplaced(): void; onClose(): void };

/** Replaces the recovery codes, and shows the new ones once. */
export function NewRecoveryCodes({ email, onReplaced, onClose }: NewRecoveryCodesProps) {
  const [codes, setCodes] = useState<string[] | null>(null);
  if (codes !== null) return <RecoveryCodesDialog codes={codes} email={email} onClose={onClose} />;
  return (
    <TwoFactorPassword
      title="Replace the recovery codes?"
      confirmLabel="Replace codes"
      look="primary"
      onSend={async (password) => {
        const made = await must(api.POST("/api/v1/users/me/two-factor/recovery-codes", { body: { password } }));
        setCodes(made.recovery_codes);
        onReplaced();
      }}
      onClose={onClose}
    >
      You get ten new codes. The current ones stop working.
    </TwoFactorPassword>
  );
}
