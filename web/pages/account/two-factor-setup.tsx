import { useState } from "preact/hooks";
import { api, must, type Schemas } from "../../app/api";
import { CopyField } from "../../ui/copy-field";
import { CodeField } from "../../ui/credential-fields";
import { Dialog } from "../../ui/dialog";
import { FormActions } from "../../ui/dialog-actions";
import { Form } from "../../ui/form";
import { QrCode } from "./qr-code";
import { RecoveryCodesDialog } from "./recovery-codes-dialog";

export type Enrollment = Schemas["TwoFactorEnrollment"];

type SetupProps = { enrollment: Enrollment; email: string; onConfirmed(): void; onClose(): void };

/** Sets up an authenticator app: shows its QR code, asks for a first code as proof, then shows the recovery codes. */
export function TwoFactorSetup({ enrollment, email, onConfirmed, onClose }: SetupProps) {
  const [isConfirmed, setIsConfirmed] = useState(false);
  const { secret, otpauth_url: url, recovery_codes: codes } = enrollment;
  if (isConfirmed) return <RecoveryCodesDialog codes={codes ?? []} email={email} onClose={onClose} />;
  return (
    <Dialog title="Set up an authenticator app" onClose={onClose}>
      <Form
        class="dialog-body"
        onSend={async ({ code = "" }) => {
          await must(api.POST("/api/v1/users/me/two-factor/confirm", { body: { code: code.trim() } }));
          setIsConfirmed(true);
          onConfirmed();
        }}
      >
        {({ errors, isSending }) => (
          <>
            <p>Scan the code with an authenticator app on your phone, or enter the secret there.</p>
            {url && (
              <QrCode text={url} label="QR code for the authenticator app. The secret below is the same as text." />
            )}
            {secret && (
              <CopyField label="Secret" value={secret} hint={`To type it: ${secret.match(/.{1,4}/g)!.join(" ")}`} />
            )}
            <CodeField hint="The six digits that the app shows now." error={errors.code} />
            <FormActions submitLabel="Turn on" isSending={isSending} onCancel={onClose} />
          </>
        )}
      </Form>
    </Dialog>
  );
}
