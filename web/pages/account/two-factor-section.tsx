import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { api, must, type Schemas } from "../../app/api";
import { useRead } from "../../app/cache";
import { formatCount } from "../../app/format";
import { loadSession } from "../../app/load-session";
import type { Me } from "../../app/session";
import { showToast } from "../../app/toasts";
import { Button } from "../../ui/button";
import { PasswordField } from "../../ui/credential-fields";
import { FormDialog } from "../../ui/form-dialog";
import { Section } from "../../ui/section";
import { ResourceView } from "../../ui/states";
import { type Enrollment, RecoveryCodesDialog, TwoFactorSetup } from "./two-factor-setup";

type Confirmation = { password?: string };

/** A change that requires the password. */
type Change = {
  title: string;
  confirmLabel: string;
  look: "primary" | "danger";
  about: string;
  send(body: Confirmation): Promise<unknown>;
  /** The message after the change. */
  done: string;
};

const setEnabled = (isEnabled: boolean) => (body: Confirmation) =>
  must(api.PATCH("/api/v1/users/me", { body: { ...body, two_factor_enabled: isEnabled } }));

const TURN_ON: Change = {
  title: "Turn on the second factor?",
  confirmLabel: "Turn on",
  look: "primary",
  about: "Sign-in then asks for a code. Your other sessions end.",
  send: setEnabled(true),
  done: "Second factor turned on.",
};

const TURN_OFF: Change = {
  title: "Turn off the second factor?",
  confirmLabel: "Turn off",
  look: "danger",
  about: "Sign-in then asks only for your password. Your other sessions end.",
  send: setEnabled(false),
  done: "Second factor turned off.",
};

const REMOVE: Change = {
  ...TURN_OFF,
  about:
    "The authenticator and the recovery codes stop working, and sign-in asks only for your password. To turn it on again, set up an authenticator again.",
  send: (body) => must(api.DELETE("/api/v1/users/me/two-factor", { body })),
};

/** The section for the second factor. */
export function TwoFactorSection({ profile }: { profile: Me }) {
  const state = useRead(["two-factor"], (signal) => must(api.GET("/api/v1/users/me/two-factor", { signal })));
  const [enrollment, setEnrollment] = useState<Enrollment | null>(null);
  const [open, setOpen] = useState<Change | "codes" | "set-up" | null>(null);
  const { email, has_password: hasPassword } = profile;
  const close = () => setOpen(null);
  const reload = async () => {
    await Promise.all([state.reload(), loadSession()]);
  };

  return (
    <Section title="Second factor" hint="Sign-in asks for a code in addition to your password.">
      <ResourceView resource={state}>
        {(value) => (
          <>
            <TwoFactorStatus value={value} />
            <TwoFactorActions
              value={value}
              onSetUp={() => setOpen("set-up")}
              onEnable={(isEnabled) => setOpen(isEnabled ? TURN_ON : TURN_OFF)}
              onRemove={() => setOpen(REMOVE)}
              onCodes={() => setOpen("codes")}
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
      {open === "codes" && (
        <NewRecoveryCodes profile={profile} onReplaced={() => void state.reload()} onClose={close} />
      )}
      {open === "set-up" && (
        <TwoFactorPassword
          title="Add an authenticator app"
          hasPassword={hasPassword}
          confirmLabel="Continue"
          look="primary"
          onSend={async (body) => {
            setEnrollment(await must(api.POST("/api/v1/users/me/two-factor", { body })));
            close();
          }}
          onClose={close}
        >
          You need an app that shows codes, such as one on your phone.
        </TwoFactorPassword>
      )}
      {open !== null && typeof open === "object" && (
        <TwoFactorPassword
          title={open.title}
          hasPassword={hasPassword}
          confirmLabel={open.confirmLabel}
          look={open.look}
          onSend={async (body) => {
            await open.send(body);
            close();
            await reload();
            showToast({ kind: "info", text: open.done });
          }}
          onClose={close}
        >
          {open.about}
        </TwoFactorPassword>
      )}
    </Section>
  );
}

type NewRecoveryCodesProps = { profile: Me; onReplaced(): void; onClose(): void };

/** Replaces the recovery codes, and shows the new ones once. */
function NewRecoveryCodes({ profile, onReplaced, onClose }: NewRecoveryCodesProps) {
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

type PasswordDialogProps = {
  title: string;
  /** If false, no password is requested: the API may require a new sign-in instead. */
  hasPassword: boolean;
  confirmLabel: string;
  look: "primary" | "danger";
  onSend(body: { password?: string }): Promise<void>;
  onClose(): void;
  /** A description of the change. */
  children: ComponentChildren;
};

/** Asks for the password, which the API requires for changes of the second factor. */
const TwoFactorPassword = ({
  title,
  hasPassword,
  confirmLabel,
  look,
  onSend,
  onClose,
  children,
}: PasswordDialogProps) => (
  <FormDialog
    title={title}
    submitLabel={confirmLabel}
    look={look}
    onSend={({ password }) => onSend(password === undefined ? {} : { password })}
    onClose={onClose}
  >
    <p>{children}</p>
    {hasPassword && <PasswordField isFirst />}
  </FormDialog>
);
