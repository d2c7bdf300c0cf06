import type { Schemas } from "../../app/api";
import { formatCount } from "../../app/format";
import { Button } from "../../ui/button";

/** Below this number of codes, the page recommends new ones. */
const FEW_CODES = 3;

/** Shows whether the second factor is on, and its kind. */
export function TwoFactorStatus({ value }: { value: Schemas["TwoFactor"] }) {
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
export function TwoFactorActions({ value, onSetUp, onEnable, onRemove, onCodes }: ActionsProps) {
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
