import { useState } from "preact/hooks";
import { useLocation } from "preact-iso";
import { useSignInMethods } from "../../app/shared-reads";
import {
  type Challenge,
  CodeField,
  EmailField,
  PasswordField,
  sendCode,
  sendPassword,
  toCodeHint,
} from "../../ui/credential-fields";
import { Form } from "../../ui/form";
import { ResourceView } from "../../ui/states";
import { finishSignIn, SignInFrame, takeToken } from "./frame";

export default function SignInPage() {
  const { route } = useLocation();
  const [challenge, setChallenge] = useState<Challenge | null>(takeChallenge);
  const methods = useSignInMethods();
  if (challenge !== null) return <CodeForm challenge={challenge} onRestart={() => setChallenge(null)} />;
  return (
    <SignInFrame title="Sign in">
      <ResourceView resource={methods} skeleton={null}>
        {(available) =>
          available.is_set_up ? (
            <>
              <Form
                submitLabel="Sign in"
                onSend={async ({ email = "", password = "" }) => {
                  const next = await sendPassword(email, password);
                  if (next === null) await finishSignIn(route);
                  else setChallenge(next);
                }}
              >
                <EmailField />
                <PasswordField />
              </Form>
              <Providers providers={available.oidc} />
              <p class="sign-in-links">
                <a href="/forgot-password">Forgot your password?</a>
                {available.signup === "open" && <a href={`/sign-up${location.search}`}>Create an account</a>}
              </p>
            </>
          ) : (
            <>
              <p>
                This server has no account yet. Open the link that <code>offcut setup-url</code> prints on the server.
              </p>
              <Providers providers={available.oidc} />
            </>
          )
        }
      </ResourceView>
    </SignInFrame>
  );
}

type Provider = { name: string; start_url: string };

/** The configured sign-in providers, such as the studio's directory. */
function Providers({ providers }: { providers: Provider[] }) {
  if (providers.length === 0) return null;
  const redirect = new URLSearchParams(location.search).get("redirect");
  return (
    <div class="sign-in-providers">
      {providers.map(({ name, start_url }) => {
        const url = new URL(start_url, location.origin);
        if (redirect !== null) url.searchParams.set("redirect", redirect);
        return (
          <a key={name} class="button" href={url.href}>
            Sign in with {name}
          </a>
        );
      })}
    </div>
  );
}

/** Returns the challenge that a provider sign-in has put after the `#`, or null. */
function takeChallenge(): Challenge | null {
  const values = new URLSearchParams(takeToken());
  const challenge = values.get("challenge");
  return challenge === null ? null : { challenge, methods: (values.get("methods") ?? "").split(" ") };
}

/** Asks for the second factor. */
function CodeForm({ challenge, onRestart }: { challenge: Challenge; onRestart(): void }) {
  const { route } = useLocation();
  return (
    <SignInFrame title="Enter your code">
      <Form
        submitLabel="Sign in"
        onSend={async ({ code = "" }) => {
          await sendCode(challenge, code);
          await finishSignIn(route);
        }}
      >
        <CodeField hint={toCodeHint(challenge.methods)} />
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
