/** The calls for approving a device. They use form bodies, as OAuth requires, and are not part of the typed API. */
import { ApiError } from "../../app/api";
import { confirmPassword } from "../../app/confirm-password";

export type DeviceRequest = { user_code: string; client_id: string; scope: string; address: string | null };

type Failure = { error?: string; error_description?: string; reason?: string };

/**
 * Posts the code that the device shows. If the session is too old, asks for the password and retries once. Throws
 * `ApiError` whose message applies to the code.
 */
export async function postCode<Answer>(path: string, userCode: string, workspaceId?: string): Promise<Answer> {
  const first = await post(path, userCode, workspaceId);
  const isTooOld = !first.response.ok && (first.body as Failure | null)?.reason === "session_too_old";
  const { response, body } = isTooOld && (await confirmPassword()) ? await post(path, userCode, workspaceId) : first;
  if (response.ok) return body as Answer;
  const { error = "internal_error", error_description: text } = (body ?? {}) as Failure;
  const message = text ?? "The server answered with an error. Try again.";
  throw new ApiError(message, error, response.status, { user_code: message });
}

async function post(path: string, userCode: string, workspaceId: string | undefined) {
  const request = new Request(`/oauth/${path}`, { method: "POST", body: new URLSearchParams({ user_code: userCode }) });
  if (workspaceId !== undefined) request.headers.set("Offcut-Workspace", workspaceId);
  const response = await fetch(request).catch(() => {
    throw new ApiError("The server does not respond. Check the connection and try again.", "offline", 0);
  });
  return { response, body: (await response.json().catch(() => null)) as unknown };
}
