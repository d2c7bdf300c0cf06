import { needsCredits, toMessage } from "../app/api";
import { Icon } from "./icon";

/** The error of a failed call. If credits are missing, it links to them. */
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

/** An error in a box with the role `alert`. */
export const ErrorMessage = ({ error }: { error: unknown }) => (
  <div class="message bad">
    <Icon name="warning" />
    <ErrorText error={error} />
  </div>
);

export const CreditsLink = () => <a href="/credits">Open credits</a>;
