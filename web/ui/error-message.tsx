import { needsCredits, toMessage } from "../app/api";
import { Icon } from "./icon";

/** The message of a failed call. Where credits are missing, a link leads to them. */
const ErrorText = ({ error }: { error: unknown }) => (
  <p>
    {toMessage(error)}
    {needsCredits(error) && (
      <>
        {" "}
        <CreditsLink />
      </>
    )}
  </p>
);

/** The box of a failed call, in an element with the role `alert`. */
export const ErrorMessage = ({ error }: { error: unknown }) => (
  <div class="message bad">
    <Icon name="warning" />
    <ErrorText error={error} />
  </div>
);

export const CreditsLink = () => <a href="/credits">Open credits</a>;
