import { useLocation } from "preact-iso";
import { type Challenge, sendCode, toCodeHint } from "../../app/sign-in";
import { Button } from "../../ui/button";
import { CodeField } from "../../ui/credential-fields";
import { Form } from "../../ui/form";
import { finishSignIn, takeToken } from "./finish";
import { SignInFrame } from "./frame";

/** Returns the challenge that a provider sign-in has put after the `#`, or null. */
export function takeChallenge(): Challenge | null {
  const values = new URLSearchParams(takeToken());
  const challenge = values.get("challenge");
  return challenge === null ? null : { challenge, methods: (values.get("methods") ?? "").split(" ") };
}

/** Asks for the second factor. */
export function CodeForm({ challenge, onRestart }: { challenge: Challenge; onRestart(): void }) {
  const { route } = useLocation();
  return (
    <SignInFrame title="Enter your code">
      <Form
        onSend={async ({ code = "" }) => {
          await sendCode(challenge, code);
          await finishSignIn(route);
        }}
      >
        {({ errors, isSending }) => (
          <>
            <CodeField hint={toCodeHint(challenge.methods)} error={errors.code} />
            <Button look="primary" type="submit" isBusy={isSending}>
              Sign in
            </Button>
          </>
        )}
      </Form>
      <p class="sign-in-links">
        <a
          href="/sign-in"
          onClick={(event) => {
            event.preventDefault();
            onRestart();
          }}
        >
          Start again
        </a>
      </p>
    </SignInFrame>
  );
}
