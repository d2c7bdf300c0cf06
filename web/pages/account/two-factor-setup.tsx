import { useMemo, useRef, useState } from "preact/hooks";
import { encode } from "uqr";
import { api, must, type Schemas } from "../../app/api";
import { saveBlob } from "../../app/save-file";
import { Button } from "../../ui/button";
import { CopyField, copyText, ShownOnceDialog } from "../../ui/copy-field";
import { CodeField } from "../../ui/credential-fields";
import { FormDialog } from "../../ui/form-dialog";

export type Enrollment = Schemas["TwoFactorEnrollment"];

type SetupProps = { enrollment: Enrollment; email: string; onConfirmed(): void; onClose(): void };

/** Sets up an authenticator app: shows its QR code, asks for a first code as proof, then shows the recovery codes. */
export function TwoFactorSetup({ enrollment, email, onConfirmed, onClose }: SetupProps) {
  const [isConfirmed, setIsConfirmed] = useState(false);
  const { secret, otpauth_url: url, recovery_codes: codes } = enrollment;
  if (isConfirmed) return <RecoveryCodesDialog codes={codes ?? []} email={email} onClose={onClose} />;
  return (
    <FormDialog
      title="Set up an authenticator app"
      submitLabel="Turn on"
      onSend={async ({ code = "" }) => {
        await must(api.POST("/api/v1/users/me/two-factor/confirm", { body: { code: code.trim() } }));
        setIsConfirmed(true);
        onConfirmed();
      }}
      onClose={onClose}
    >
      <p>Scan the code with an authenticator app on your phone, or enter the secret there.</p>
      {url && <QrCode text={url} label="QR code for the authenticator app. You can enter the secret below instead." />}
      {secret && <CopyField label="Secret" value={secret} hint={`To type it: ${secret.match(/.{1,4}/g)!.join(" ")}`} />}
      <CodeField hint="The six digits in the app." />
    </FormDialog>
  );
}

/** Width of the empty border around the code, in modules. */
const QUIET_ZONE = 4;

/** A QR code. It is drawn in the browser, so its content is not sent anywhere. */
function QrCode({ text, label }: { text: string; label: string }) {
  const { size, path } = useMemo(() => draw(text), [text]);
  return (
    <svg class="qr-code" viewBox={`0 0 ${size} ${size}`} role="img" aria-label={label}>
      <rect width={size} height={size} class="qr-ground" />
      <path d={path} class="qr-modules" shape-rendering="crispEdges" />
    </svg>
  );
}

/** Draws each row as runs of dark modules. */
function draw(text: string): { size: number; path: string } {
  const { data, size } = encode(text, { ecc: "M", border: QUIET_ZONE });
  const path = data
    .flatMap((row, y) =>
      row.map((isDark, x) => (isDark && !row[x - 1] ? `M${x} ${y}h${runLength(row, x)}v1H${x}z` : "")),
    )
    .join("");
  return { size, path };
}

function runLength(row: boolean[], start: number): number {
  const end = row.indexOf(false, start);
  return (end === -1 ? row.length : end) - start;
}

type RecoveryCodesDialogProps = { codes: string[]; email: string; onClose(): void };

/** Shows new recovery codes once. */
export const RecoveryCodesDialog = ({ codes, email, onClose }: RecoveryCodesDialogProps) => (
  <ShownOnceDialog title="Save your recovery codes" closeLabel="I have saved them" onClose={onClose}>
    <RecoveryCodes codes={codes} email={email} />
  </ShownOnceDialog>
);

type RecoveryCodesProps = { codes: string[]; email: string };

/** Shows recovery codes once, with buttons that copy and save them. */
function RecoveryCodes({ codes, email }: RecoveryCodesProps) {
  const field = useRef<HTMLTextAreaElement>(null);
  const [note, setNote] = useState("");
  const text = codes.join("\n");
  const copy = async () => setNote(await copyText(field.current!));
  const download = () => {
    const head = `Recovery codes of ${email} at ${location.host}. Each signs in once.\n\n`;
    saveBlob(new Blob([head, text, "\n"], { type: "text/plain" }), "offcut-recovery-codes.txt");
    setNote("Downloaded.");
  };
  return (
    <div class="recovery-codes">
      <p>
        Each code signs you in once if you do not have your authenticator. Store them in a safe place: they are not
        shown again.
      </p>
      <textarea
        ref={field}
        class="input mono"
        aria-label="Recovery codes"
        rows={codes.length}
        value={text}
        readOnly
        spellcheck={false}
      />
      <div class="toolbar">
        <Button icon="copy" onClick={() => void copy()}>
          Copy
        </Button>
        <Button icon="download" onClick={download}>
          Download
        </Button>
        <span class="soft" role="status">
          {note}
        </span>
      </div>
    </div>
  );
}
