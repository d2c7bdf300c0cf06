import { useState } from "preact/hooks";
import { api, must } from "../../app/api";
import { endSession } from "../../app/session";
import { Button } from "../../ui/button";
import { NewPasswordField } from "../../ui/credential-fields";
import { Form } from "../../ui/form";
import { INCOMPLETE_LINK, SignInFrame, takeToken } from "./frame";

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
          onSend={async ({ password = "", keep_api_keys: keep }) => {
            const body = { token, password, keep_api_keys: keep !== undefined };
            await must(api.POST("/api/v1/auth/password/reset", { body }));
            endSession();
            setIsDone(true);
          }}
        >
          {({ errors, isSending }) => (
            <>
              <NewPasswordField isFirst error={errors.password} />
              <label class="check">
                <input type="checkbox" name="keep_api_keys" />
                Keep my API keys
              </label>
              <p class="soft">Otherwise programs and devices that use them stop working.</p>
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
