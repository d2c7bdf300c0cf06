import { useState } from "preact/hooks";
import { useLocation } from "preact-iso";
import { api } from "../app/api";
import { me, passwordRequest } from "../app/session";
import { Button } from "../ui/button";
import {
  type Challenge,
  CodeField,
  PasswordField,
  sendCode,
  sendPassword,
  toCodeHint,
  UsernameField,
} from "../ui/credential-fields";
import { Dialog } from "../ui/dialog";
import { FormDialog } from "../ui/form-dialog";

/** Asks for the password before a change that needs a recent sign-in. */
export default function PasswordDialog() {
  const request = passwordRequest.value;
  if (request === null || me.value === null) return null;
  const { email, has_password: hasPassword } = me.value;
  const finish = (isConfirmed: boolean) => request.resolve(isConfirmed);
  return hasPassword ? (
    <SignInDialog email={email} onFinish={finish} />
  ) : (
    <ProviderDialog onClose={() => finish(false)} />
  );
}

type SignInDialogProps = { email: string; onFinish(isConfirmed: boolean): void };

function SignInDialog({ email, onFinish }: SignInDialogProps) {
  const [challenge, setChallenge] = useState<Challenge | null>(null);
  const send = async ({ password = "", code = "" }: Record<string, string>): Promise<void> => {
    const replacedId = await findSessionId();
    if (challenge === null) {
      const next = await sendPassword(email, password);
      if (next !== null) return setChallenge(next);
    } else await sendCode(challenge, code);
    endReplacedSession(replacedId);
    onFinish(true);
  };
  return (
    <FormDialog title="Enter your password" submitLabel="Continue" onSend={send} onClose={() => onFinish(false)}>
      <p>You signed in more than 12 hours ago. Confirm that it is you to make this change.</p>
      {challenge === null ? (
        <>
          <UsernameField email={email} />
          <PasswordField isFirst />
        </>
      ) : (
        <CodeField hint={toCodeHint(challenge.methods)} />
      )}
    </FormDialog>
  );
}

/** For accounts without a password: asks to sign in with the provider. */
function ProviderDialog({ onClose }: { onClose(): void }) {
  const { route, url } = useLocation();
  return (
    <Dialog title="Sign in again" onClose={onClose}>
      <div class="dialog-body">
        <p>
          You signed in more than 12 hours ago, and your account has no password. Sign in with your provider, then make
          the change again. You return to this page.
        </p>
      </div>
      <div class="dialog-foot">
        <Button onClick={onClose}>Cancel</Button>
        <Button
          look="primary"
          onClick={() => {
            onClose();
            route(`/sign-in?${new URLSearchParams({ redirect: url })}`);
          }}
        >
          Go to sign-in
        </Button>
      </div>
    </Dialog>
  );
}

/** Returns the ID of this browser's session, or null. */
async function findSessionId(): Promise<string | null> {
  const { data } = await api.GET("/api/v1/sessions", { params: { query: { limit: 100 } } });
  return data?.items.find(({ is_current: isCurrent }) => isCurrent)?.id ?? null;
}

/** Ends the replaced session. Otherwise the list of sessions would contain this browser twice. */
function endReplacedSession(id: string | null): void {
  if (id === null) return;
  void api.DELETE("/api/v1/sessions/{session_id}", { params: { path: { session_id: id } } }).catch(() => {});
}
