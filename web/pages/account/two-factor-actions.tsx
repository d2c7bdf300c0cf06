import { useState } from "preact/hooks";
import { formatCount } from "../../app/format";
import { Button } from "../../ui/button";
import type { TwoFactor } from "./two-factor-section";

/** With fewer codes than these, new ones are advised. */
const FEW_CODES = 3;

/** Whether the second factor is on, and what it is. */
export function TwoFactorStatus({ value }: { value: TwoFactor }) {
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
  value: TwoFactor;
  onSetUp(): Promise<void>;
  onEnable(isEnabled: boolean): Promise<void>;
  onRemove(): void;
  onCodes(): void;
};

/** What can be done in each state. */
export function TwoFactorActions({ value, onSetUp, onEnable, onRemove, onCodes }: ActionsProps) {
  const { is_enabled: isEnabled, has_authenticator: hasAuthenticator, can_mail: canMail } = value;
  if (hasAuthenticator)
    return (
      <div class="toolbar">
        {!isEnabled && <BusyButton label="Turn on" look="primary" run={() => onEnable(true)} />}
        <Button onClick={onCodes}>Replace recovery codes</Button>
        <Button look="danger" onClick={onRemove}>
          {isEnabled ? "Turn off" : "Remove authenticator"}
        </Button>
      </div>
    );
  return (
    <div class="toolbar">
      <BusyButton label="Set up an authenticator app" look={isEnabled ? "default" : "primary"} run={onSetUp} />
      {!isEnabled && canMail && <BusyButton label="Use codes by email" run={() => onEnable(true)} />}
      {isEnabled && <BusyButton label="Turn off" look="danger" run={() => onEnable(false)} />}
    </div>
  );
}

type BusyButtonProps = { label: string; look?: "default" | "primary" | "danger"; run(): Promise<void> };

function BusyButton({ label, look = "default", run }: BusyButtonProps) {
  const [isBusy, setIsBusy] = useState(false);
  const onClick = async () => {
    setIsBusy(true);
    await run();
    setIsBusy(false);
  };
  return (
    <Button look={look} isBusy={isBusy} onClick={() => void onClick()}>
      {label}
    </Button>
  );
}
