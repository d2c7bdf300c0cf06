import { useState } from "preact/hooks";
import { ApiError, api, must } from "../../app/api";
import { Button } from "../../ui/button";
import { PasswordField } from "../../ui/credential-fields";
import { Form } from "../../ui/form";
import { INCOMPLETE_LINK, SignInFrame, takeToken } from "./frame";

/**
 * Confirms an address with a button, so that a mail scanner that opens the link does not confirm it. Without a session,
 * the page asks for the password.
 */
export default function VerifyEmailPage() {
  const [token] = useState(takeToken);
  const [needsPassword, setNeedsPassword] = useState(false);
  const [isDone, setIsDone] = useState(false);
  if (isDone)
    return (
      <SignInFrame title="Address confirmed">
        <p>
          <a href="/">Continue</a>
        </p>
      </SignInFrame>
    );
  const confirm = async (password?: string): Promise<void> => {
    try {
      const body = { token, ...(password !== undefined && { password }) };
      await must(api.POST("/api/v1/auth/verify-email", { body }));
      setIsDone(true);
    } catch (error) {
      if (needsPassword || !(error instanceof ApiError) || error.fields.password === undefined) throw error;
      setNeedsPassword(true);
    }
  };
  return (
    <SignInFrame title="Confirm your email address">
      {token === "" ? (
        <p>{INCOMPLETE_LINK}</p>
      ) : (
        <Form onSend={({ password }) => confirm(password)}>
          {({ errors, isSending }) => (
            <>
              {needsPassword && (
                <>
                  <p>Enter the password of your account.</p>
                  <PasswordField isFirst error={errors.password} />
                </>
              )}
              <Button look="primary" type="submit" isBusy={isSending}>
                Confirm
              </Button>
            </>
          )}
        </Form>
      )}
      {needsPassword && (
        <p class="sign-in-links">
          Not your account? <a href="/forgot-password">Take it over with a new password</a>
        </p>
      )}
    </SignInFrame>
  );
}
