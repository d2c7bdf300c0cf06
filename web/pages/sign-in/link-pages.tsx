/** The pages of a forgotten password and of mailed links. */

import { useState } from "preact/hooks";
import { ApiError, api, must } from "../../app/api";
import { endSession } from "../../app/session";
import { useSignInMethods } from "../../app/shared-reads";
import { EmailField, NewPasswordField, PasswordField } from "../../ui/credential-fields";
import { Form } from "../../ui/form";
import { ResourceView } from "../../ui/states";
import { INCOMPLETE_LINK, SignInFrame, takeToken } from "./frame";

function ForgotPasswordPage() {
  const [isSent, setIsSent] = useState(false);
  const methods = useSignInMethods();
  if (isSent)
    return (
      <SignInFrame title="Check your mail">
        <p>If the address has an account, a link to set a new password is on its way.</p>
      </SignInFrame>
    );
  return (
    <SignInFrame title="Forgot your password?">
      <ResourceView resource={methods} skeleton={null}>
        {({ email: sendsMail }) =>
          sendsMail ? (
            <Form
              submitLabel="Send a link"
              onSend={async ({ email = "" }) => {
                await must(api.POST("/api/v1/auth/password/forgot", { body: { email } }));
                setIsSent(true);
              }}
            >
              <EmailField />
            </Form>
          ) : (
            <p>This server does not send email. Ask an administrator for a link to set a new password.</p>
          )
        }
      </ResourceView>
      <p class="sign-in-links">
        <a href="/sign-in">Back to sign-in</a>
      </p>
    </SignInFrame>
  );
}

function ResetPasswordPage() {
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
          submitLabel="Set the password"
          onSend={async ({ password = "", keep_api_keys: keep }) => {
            const body = { token, password, keep_api_keys: keep !== undefined };
            await must(api.POST("/api/v1/auth/password/reset", { body }));
            endSession();
            setIsDone(true);
          }}
        >
          <NewPasswordField isFirst />
          <label class="check">
            <input type="checkbox" name="keep_api_keys" />
            Keep my API keys
          </label>
          <p class="soft">Otherwise programs and devices that use them stop working.</p>
        </Form>
      )}
      <p class="sign-in-links">
        <a href="/forgot-password">Ask for a new link</a>
      </p>
    </SignInFrame>
  );
}

/**
 * Confirms an address with a button, so that a mail scanner that opens the link does not confirm it. Without a session,
 * the page asks for the password.
 */
function VerifyEmailPage() {
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
        <Form submitLabel="Confirm" onSend={({ password }) => confirm(password)}>
          {needsPassword && (
            <>
              <p>Enter the password of your account.</p>
              <PasswordField isFirst />
            </>
          )}
        </Form>
      )}
      {needsPassword && (
        <p class="sign-in-links">
          Not your account? <a href="/forgot-password">Set a new password to claim it</a>
        </p>
      )}
    </SignInFrame>
  );
}

export const PAGES = {
  "/forgot-password": ForgotPasswordPage,
  "/reset-password": ResetPasswordPage,
  "/verify-email": VerifyEmailPage,
};
