import { useState } from "preact/hooks";
import { api, must } from "../../app/api";
import { Button } from "../../ui/button";
import { Form } from "../../ui/form";
import { takeToken } from "./finish";
import { SignInFrame } from "./frame";
import { INCOMPLETE_LINK } from "./texts";

/** Confirms an address with a button: a mail scanner that opens the link confirms nothing. */
export default function VerifyEmailPage() {
  const [token] = useState(takeToken);
  const [isDone, setIsDone] = useState(false);
  if (isDone)
    return (
      <SignInFrame title="Address confirmed">
        <p>
          <a href="/">Continue</a>
        </p>
      </SignInFrame>
    );
  return (
    <SignInFrame title="Confirm your email address">
      {token === "" ? (
        <p>{INCOMPLETE_LINK}</p>
      ) : (
        <Form
          onSend={async () => {
            await must(api.POST("/api/v1/auth/verify-email", { body: { token } }));
            setIsDone(true);
          }}
        >
          {({ isSending }) => (
            <Button look="primary" type="submit" isBusy={isSending}>
              Confirm
            </Button>
          )}
        </Form>
      )}
    </SignInFrame>
  );
}
