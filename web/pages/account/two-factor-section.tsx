import { useMemo, useRef, useState } from "preact/hooks";
import { encode } from "uqr";
import { api, must, type Schemas } from "../../app/api";
import { useRead } from "../../app/cache";
import { formatCount } from "../../app/format";
import { loadSession } from "../../app/load-session";
import { saveBlob } from "../../app/save-file";
import type { Me } from "../../app/session";
import { showToast } from "../../app/toasts";
import { Button } from "../../ui/button";
import { CopyField, copyText, ShownOnceDialog } from "../../ui/copy-field";
import { CodeField, PasswordField } from "../../ui/credential-fields";
import { FormDialog } from "../../ui/form-dialog";
import { Section } from "../../ui/section";
import { ResourceView } from "../../ui/states";

type Confirmation = { password?: string };

/** A change that the API makes only with the password. */
type Change = {
  title: string;
  submitLabel: string;
  look?: "danger";
  about: string;
  /** Sends the change and closes the dialog. */
  send(body: Confirmation): Promise<void>;
};

/** The section for the second factor. */
export function TwoFactorSection({ profile }: { profile: Me }) {
  const state = useRead(["two-factor"], (signal) => must(api.GET("/api/v1/users/me/two-factor", { signal })));
  const [asked, setAsked] = useState<Change | null>(null);
  const [enrollment, setEnrollment] = useState<Enrollment | null>(null);
  const [codes, setCodes] = useState<string[] | null>(null);
  const { email, has_password: hasPassword } = profile;
  const close = () => setAsked(null);
  const reload = async () => void (await Promise.all([state.reload(), loadSession()]));
  const turn = async (change: Promise<unknown>, to: "on" | "off") => {
    await change;
    close();
    await reload();
    showToast({ kind: "info", text: `Second factor turned ${to}.` });
  };
  const setEnabled = (body: Confirmation, isEnabled: boolean) =>
    must(api.PATCH("/api/v1/users/me", { body: { ...body, two_factor_enabled: isEnabled } }));

  const setUp: Change = {
    title: "Add an authenticator app",
    submitLabel: "Continue",
    about: "You need an app that shows codes, such as one on your phone.",
    send: async (body) => {
      setEnrollment(await must(api.POST("/api/v1/users/me/two-factor", { body })));
      close();
    },
  };
  const replaceCodes: Change = {
    title: "Replace the recovery codes?",
    submitLabel: "Replace codes",
    about: "You get ten new codes. The current ones stop working.",
    send: async (body) => {
      const made = await must(api.POST("/api/v1/users/me/two-factor/recovery-codes", { body }));
      setCodes(made.recovery_codes);
      close();
      void state.reload();
    },
  };
  const turnOn: Change = {
    title: "Turn on the second factor?",
    submitLabel: "Turn on",
    about: "Sign-in then asks for a code. Your other sessions end.",
    send: (body) => turn(setEnabled(body, true), "on"),
  };
  const turnOff: Change = {
    title: "Turn off the second factor?",
    submitLabel: "Turn off",
    look: "danger",
    about: "Sign-in then asks only for your password. Your other sessions end.",
    send: (body) => turn(setEnabled(body, false), "off"),
  };
  const remove: Change = {
    ...turnOff,
    about:
      "The authenticator and the recovery codes stop working, and sign-in asks only for your password. To turn it on again, set up an authenticator again.",
    send: (body) => turn(must(api.DELETE("/api/v1/users/me/two-factor", { body })), "off"),
  };

  return (
    <Section title="Second factor" hint="Sign-in asks for a code in addition to your password.">
      <ResourceView resource={state}>
        {(value) => (
          <>
            <TwoFactorStatus value={value} />
            <TwoFactorActions
              value={value}
              onSetUp={() => setAsked(setUp)}
              onEnable={(isEnabled) => setAsked(isEnabled ? turnOn : turnOff)}
              onRemove={() => setAsked(remove)}
              onCodes={() => setAsked(replaceCodes)}
            />
          </>
        )}
      </ResourceView>
      {enrollment && (
        <TwoFactorSetup
          enrollment={enrollment}
          email={email}
          onConfirmed={() => void reload()}
          onClose={() => setEnrollment(null)}
        />
      )}
      {codes && <RecoveryCodesDialog codes={codes} email={email} onClose={() => setCodes(null)} />}
      {asked && (
        <FormDialog
          title={asked.title}
          submitLabel={asked.submitLabel}
          look={asked.look ?? "primary"}
          onSend={({ password }) => asked.send(password === undefined ? {} : { password })}
          onClose={close}
        >
          <p>{asked.about}</p>
          {/* Without a password, the API may require a new sign-in instead. */}
          {hasPassword && <PasswordField isFirst />}
        </FormDialog>
      )}
    </Section>
  );
}

/** Below this number of codes, the page recommends new ones. */
const FEW_CODES = 3;

/** Shows whether the second factor is on, and its kind. */
function TwoFactorStatus({ value }: { value: Schemas["TwoFactor"] }) {
  const { is_enabled: isEnabled, has_authenticator: hasAuthenticator, recovery_codes_left: left } = value;
  if (!isEnabled)
    return (
      <p>
        <span class="status">Off</span>{" "}
        {hasAuthenticator ? "An authenticator app is set up, but sign-in does not ask for it." : ""}
      </p>
    );
  return (
    <>
      <p>
        <span class="status good">On</span> {hasAuthenticator ? "Authenticator app" : "Codes by email"}
      </p>
      {hasAuthenticator && (
        <p class={left < FEW_CODES ? undefined : "soft"}>
          {left === 0 ? "No recovery code is left." : `${formatCount(left, "recovery code")} left.`}{" "}
          {left < FEW_CODES && "Replace them before you run out."}
        </p>
      )}
    </>
  );
}

type ActionsProps = {
  value: Schemas["TwoFactor"];
  onSetUp(): void;
  onEnable(isEnabled: boolean): void;
  onRemove(): void;
  onCodes(): void;
};

/** The actions that each state allows. */
function TwoFactorActions({ value, onSetUp, onEnable, onRemove, onCodes }: ActionsProps) {
  const { is_enabled: isEnabled, has_authenticator: hasAuthenticator, can_mail: canMail } = value;
  if (hasAuthenticator)
    return (
      <div class="toolbar">
        {!isEnabled && (
          <Button look="primary" onClick={() => onEnable(true)}>
            Turn on
          </Button>
        )}
        <Button onClick={onCodes}>Replace recovery codes</Button>
        <Button look="danger" onClick={onRemove}>
          {isEnabled ? "Turn off" : "Remove authenticator"}
        </Button>
      </div>
    );
  return (
    <div class="toolbar">
      <Button look={isEnabled ? "default" : "primary"} onClick={onSetUp}>
        Set up an authenticator app
      </Button>
      {!isEnabled && canMail && <Button onClick={() => onEnable(true)}>Use codes by email</Button>}
      {isEnabled && (
        <Button look="danger" onClick={() => onEnable(false)}>
          Turn off
        </Button>
      )}
    </div>
  );
}

type Enrollment = Schemas["TwoFactorEnrollment"];

type SetupProps = { enrollment: Enrollment; email: string; onConfirmed(): void; onClose(): void };

/** Sets up an authenticator app: shows its QR code, asks for a first code as proof, then shows the recovery codes. */
function TwoFactorSetup({ enrollment, email, onConfirmed, onClose }: SetupProps) {
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

/** Shows new recovery codes once, with buttons that copy and save them. */
function RecoveryCodesDialog({ codes, email, onClose }: RecoveryCodesDialogProps) {
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
    <ShownOnceDialog title="Save your recovery codes" closeLabel="I have saved them" onClose={onClose}>
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
    </ShownOnceDialog>
  );
}
