import { MAX_FAILING_MS } from "../../../src/domain/webhooks";
import { formatTime } from "../../app/format";
import { Button } from "../../ui/button";
import { Icon } from "../../ui/icon";
import { RelativeTime } from "../../ui/relative-time";
import { DISABLED_TEXTS, type Endpoint } from "./webhook-texts";

type EndpointNoticesProps = { endpoint: Endpoint; onEnable: (() => void) | null };

/** Notices for an endpoint that is disabled, is failing, or has two secrets. */
export function EndpointNotices({ endpoint, onEnable }: EndpointNoticesProps) {
  const { state, disabled_at: disabledAt, disabled_reason: reason, failing_since: failingSince } = endpoint;
  const oldSecretUntil = endpoint.old_secret_expires_at;
  return (
    <div class="notices">
      {state === "disabled" && (
        <div class="message warning">
          <Icon name="warning" />
          <p>
            <strong>
              Disabled
              {disabledAt !== null && (
                <>
                  {" "}
                  <RelativeTime iso={disabledAt} />
                </>
              )}
              .
            </strong>{" "}
            {reason !== null && DISABLED_TEXTS[reason]} Events that occur while it is disabled are not sent. Pending
            deliveries are sent when the endpoint is enabled.
          </p>
          {onEnable && (
            <span class="message-actions">
              <Button onClick={onEnable}>Enable</Button>
            </span>
          )}
        </div>
      )}
      {state === "enabled" && failingSince !== null && (
        <div class="message warning">
          <Icon name="warning" />
          <p>
            <strong>
              Deliveries began to fail <RelativeTime iso={failingSince} />.
            </strong>{" "}
            Offcut keeps retrying and disables the endpoint if none succeeds by{" "}
            {formatTime(new Date(Date.parse(failingSince) + MAX_FAILING_MS))}.
          </p>
        </div>
      )}
      {oldSecretUntil !== null && Date.parse(oldSecretUntil) > Date.now() && (
        <div class="message">
          <Icon name="info" />
          <p>
            Deliveries are signed with the old and the new secret until {formatTime(oldSecretUntil)}. Replace the old
            one in the receiver by then.
          </p>
        </div>
      )}
    </div>
  );
}
