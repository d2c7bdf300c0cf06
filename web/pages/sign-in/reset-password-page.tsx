import { useState } from "preact/hooks";
import { api, must } from "../../app/api";
import { endSession } from "../../app/session";
import { Button } from "../../ui/button";
import { NewPasswordField } from "../../ui/credential-fields";
import { Form } from "../../ui/form";
import { takeToken } from "./finish";
import { SignInFrame } from "./frame";
import { INCOMPLETE_LINK } from "./texts";

export default function ResetPasswordPage() {
  const [token] = useState(takeToken);
  const [isDone, setIsDone] = useState(false);
  if (isDone)
    return (
      <SignInFrame title="Password changed">
        <p>
          All sessions were ended. <a href="/sign-in">Sign in</a>
        </p>
      </SignInFrame>
    );
  return (
    <SignInFrame title="Reset your password">
      {token === "" ? (
        <p>{INCOMPLETE_LINK}</p>
      ) : (
        <Form
          onSend={async ({ password = "" }) => {
            await must(api.POST("/api/v1/auth/password/reset", { body: { token, password } }));
            endSession();
            setIsDone(true);
          }}
        >
          {({ errors, isSending }) => (
            <>
              <NewPasswordField isFirst error={errors.password} />
              <Button look="primary" type="submit" isBusy={isSending}>
                Set the password
              </Button>
            </>
          )}
        </Form>
      )}
      <p class="sign-in-links">
        <a href="/forgot-password">Ask for a new link</a>
      </p>
    </SignInFrame>
  );
}
